package launch

import "testing"

func TestListening(t *testing.T) {
	tests := []struct{ log, want string }{
		{"", ""},
		{"time=x level=WARN msg=\"no secret\"\n", ""},
		{"time=x level=INFO msg=listening address=127.0.0.1:4", ""}, // still being written
		{"time=x level=WARN msg=w\ntime=x level=INFO msg=listening address=127.0.0.1:42 cap=5\n", "127.0.0.1:42"},
		{"time=x level=INFO msg=listening address=127.0.0.1:42\n", "127.0.0.1:42"},
		{"{\"msg\":\"other\"}\n{\"msg\":\"listening\",\"address\":\"[::1]:42\",\"cap\":5}\n", "[::1]:42"},
	}
	for _, tt := range tests {
		if got, ok := listening(tt.log); got != tt.want || ok != (tt.want != "") {
			t.Errorf("listening(%q) = %q, %v; want %q", tt.log, got, ok, tt.want)
		}
	}
}
