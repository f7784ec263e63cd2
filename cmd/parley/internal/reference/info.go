package reference

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

const infoURI = "server://info"

// serverInfo is the content of server://info.
type serverInfo struct {
	Server      serverName `json:"server"`
	Uptime      float64    `json:"uptime"`      // seconds
	MemoryUsage uint64     `json:"memoryUsage"` // bytes of heap in use
	Goroutines  int        `json:"goroutines"`
	GoVersion   string     `json:"goVersion"`
	Platform    string     `json:"platform"`
	Arch        string     `json:"arch"`
	PID         int        `json:"pid"`
}

type serverName struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (r *reference) addInfo() {
	r.srv.AddResource(mcp.Resource{
		URI:         infoURI,
		Name:        "Server Information",
		Title:       "Server information",
		Description: "Current server status and configuration",
		MIMEType:    "application/json",
		Annotations: &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser, mcp.RoleAssistant}, Priority: new(0.3)},
	}, func(_ context.Context, _ *server.Call, uri string) (*mcp.ReadResourceResult, error) {
		return jsonContents(uri, r.currentInfo())
	})
}

func (r *reference) currentInfo() serverInfo {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return serverInfo{
		Server:      serverName{r.info.Name, r.info.Version},
		Uptime:      time.Since(r.started).Seconds(),
		MemoryUsage: memory.HeapAlloc,
		Goroutines:  runtime.NumGoroutine(),
		GoVersion:   runtime.Version(),
		Platform:    runtime.GOOS,
		Arch:        runtime.GOARCH,
		PID:         os.Getpid(),
	}
}

// jsonContents returns v as the content of a resource, indented for people.
func jsonContents(uri string, v any) (*mcp.ReadResourceResult, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return server.Contents(mcp.TextResource(uri, "application/json", string(text))), nil
}
