package config_test

import (
	"fmt"

	"github.com/andreimerlescu/concert/config"
)

func ExampleLoad() {
	l, err := config.Load([]string{"-cap", "50"}, []string{"CONCERT_REAPER=1m"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Config.Cap, l.Origins["cap"])
	fmt.Println(l.Config.Reaper, l.Origins["reaper"])
	fmt.Println(l.Config.RetryAfter, l.Origins["retry_after"])

	_, err = config.Load([]string{"-cap", "0", "-reaper", "30"}, nil)
	fmt.Println(err)
	// Output:
	// 50 flag
	// 1m0s env
	// 5s default
	// -cap "0": want a number of page requests from 1 to 2147483647
	// -reaper "30": want a duration from 5s to 24h: add a unit, as in 30s
}

func ExampleConfig_Validate() {
	c := config.Default()
	c.QueueStatusCode = 404
	fmt.Println(c.Validate())
	// Output:
	// -queue-status-code "404": want 200, 202, 429 or 503
}
