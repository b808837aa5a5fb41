// Loads Compose files as `docker compose` does (schema, merge, interpolation, references between services, networks and
// secrets) and prints the project as JSON. A fault ends it with code 1 and the sentence of Compose.
//
//	go run . <env file> <compose file>...
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: compose-schema <env file> <compose file>...")
		os.Exit(2)
	}
	options, err := cli.NewProjectOptions(
		os.Args[2:],
		cli.WithEnvFiles(os.Args[1]),
		cli.WithDotEnv,
		cli.WithProfiles([]string{"*"}),
		cli.WithName("tracker"),
		cli.WithResolvedPaths(true),
	)
	fail(err)
	project, err := options.LoadProject(context.Background())
	fail(err)
	text, err := project.MarshalJSON()
	fail(err)
	fmt.Println(string(text))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
