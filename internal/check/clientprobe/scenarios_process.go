package clientprobe

import (
	"strings"
	"time"
)

// processScenarios are servers that behave unusually as processes, or below the
// messages.
var processScenarios = []Scenario{
	{
		Name: "noisy", Does: "Writes lines that look like errors to standard error, and works.",
		Do: "Connect, and call a tool.", Needs: []string{needsProcess}, Noisy: true,
	},
	{
		Name: "stubborn", Does: "Goes on when its standard input has ended, and when it is told to end.",
		Do: "Connect, and quit.", Needs: []string{needsProcess}, Stubborn: true,
	},
	{
		Name: "shouting", Does: "Writes the names of headers in capitals.",
		Do: "Connect, and call a tool.", Needs: []string{needsHTTP, needsStateless}, Naming: strings.ToUpper,
	},
	{
		Name: "no-pong", Does: "Does not answer pings.",
		Do: "Connect, ping the server, and go on if the client can.", Needs: []string{needsSession},
		On: map[string]func(*Turn) bool{"ping": func(t *Turn) bool {
			t.Hold(time.Hour)
			return true
		}},
	},
}
