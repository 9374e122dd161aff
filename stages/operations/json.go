package operations

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/andreimerlescu/concert/pipeline"
)

// WriteJSON answers v with value as JSON that no cache keeps.
func WriteJSON(v *pipeline.Visit, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic("BUG: operations: answer is not JSON: " + err.Error())
	}
	writeBody(v, status, "application/json; charset=utf-8", append(body, '\n'))
}

// WriteText answers v with plain text that no cache keeps.
func WriteText(v *pipeline.Visit, status int, text string) {
	writeBody(v, status, "text/plain; charset=utf-8", []byte(text))
}

// WriteError answers v with {"error": …}.
func WriteError(v *pipeline.Visit, status int, text string) {
	WriteJSON(v, status, map[string]string{"error": text})
}

func writeBody(v *pipeline.Visit, status int, contentType string, body []byte) {
	h := v.W.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	v.W.WriteHeader(status)
	if v.R.Method != http.MethodHead {
		_, _ = v.W.Write(body) // the client may have left; there is nobody to tell
	}
}
