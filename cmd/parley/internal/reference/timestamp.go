package reference

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// iso8601 is the form of JavaScript's toISOString.
const iso8601 = "2006-01-02T15:04:05.000Z07:00"

type timestampArgs struct {
	Timezone string `json:"timezone,omitempty" description:"IANA time zone, for example \"Europe/Berlin\"; UTC if absent" maxLength:"64"`
}

func (r *reference) addTimestamp() {
	server.AddTool(r.srv, mcp.Tool{
		Name:        "get_timestamp",
		Title:       "Current time",
		Description: "Returns the current time in ISO 8601 with milliseconds, in UTC unless a time zone is given.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)},
	}, func(_ context.Context, _ *server.Call, in timestampArgs) (string, error) {
		zone, err := location(in.Timezone)
		if err != nil {
			return "", err
		}
		return time.Now().In(zone).Format(iso8601), nil
	})
}

// location is time.LoadLocation without "Local": clients are not to learn where
// the server runs.
func location(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("there is no time zone %q; use an IANA name such as %q, or leave it out for UTC", name, "Europe/Berlin")
	}
	return zone, nil
}
