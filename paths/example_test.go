package paths_test

import (
	"fmt"

	"github.com/andreimerlescu/concert/paths"
)

func ExampleTable_Lookup() {
	table, err := paths.Build(
		paths.List[string]{Name: "-assets", Entries: "/css/*", Value: "asset"},
		paths.List[string]{Name: "-ban-paths", Entries: "/.env", Value: "ban", Strict: true},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, target := range []string{"/css/a.css?v=1", "/css/../checkout", "/x/..%2f.ENV", "/a//b"} {
		class, listed := table.Lookup(paths.Canonical(target))
		if !listed {
			class = "page"
		}
		fmt.Printf("%-16s %s\n", target, class)
	}
	// Output:
	// /css/a.css?v=1   asset
	// /css/../checkout page
	// /x/..%2f.ENV     ban
	// /a//b            page
}

func ExampleBuild_problems() {
	_, err := paths.Build(
		paths.List[string]{Name: "-assets", Entries: "css/*, /img//*", Value: "asset"},
		paths.List[string]{Name: "-bypass", Entries: "/queue/*", Value: "bypass"},
	)
	fmt.Println(err)
	// Output:
	// -assets: "css/*" has no leading slash: write "/css/*"
	// -assets: "/img//*" is not in the clean form paths are matched in: write "/img/*"
	// -bypass: "/queue/*" covers /queue/status, one of Concert's own paths: list what lies beside it
}
