package clientip_test

import (
	"fmt"
	"net/http"

	"github.com/andreimerlescu/concert/clientip"
)

func ExampleResolver_Resolve() {
	trust, err := clientip.ParseTrust("127.0.0.1, 10.0.0.0/8")
	if err != nil {
		fmt.Println(err)
		return
	}
	h := http.Header{"X-Forwarded-For": {"198.51.100.1, [2001:db8:1:2::5]:443, 10.0.0.7"}}
	client := clientip.NewResolver(trust).Resolve("127.0.0.1:50000", h)
	fmt.Println(client.Addr, clientip.FormatKey(client.Key))

	fmt.Println(clientip.ForwardedFor(h, client))
	// Output:
	// 2001:db8:1:2::5 2001:db8:1:2::/64
	// 198.51.100.1, [2001:db8:1:2::5]:443, 10.0.0.7, 127.0.0.1
}
