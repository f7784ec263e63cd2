package cli

import (
	"net"
	"strings"

	"github.com/spf13/pflag"

	"github.com/parley-mcp/parley/internal/webserver"
)

// frontFlags are the flags of commands that serve what others have: where, and to whom.
type frontFlags struct {
	http   httpFlags
	bearer string
	noAuth bool
}

func (f *frontFlags) register(set *pflag.FlagSet) {
	f.http.register(set)
	set.StringVar(&f.http.auth.mode, "auth", "", "demand a login of clients: `issuer=URL,audience=NAME,scopes=A B`")
	set.StringVar(&f.bearer, "bearer", "", "demand the token in `@FILE` of clients")
	set.BoolVar(&f.noAuth, "no-auth", false, "let everybody who reaches the address use the server")
}

// check refuses flags that make no sense, before anything is started.
func (f *frontFlags) check() (err error) {
	switch {
	case f.http.addr == "" && (f.http.auth.mode != "" || f.bearer != "" || f.noAuth):
		return usagef("--auth, --bearer and --no-auth are for --http; without it, only whoever starts the program can use it")
	case f.http.auth.mode != "" && f.bearer != "":
		return usagef("--auth and --bearer do not go together")
	case f.noAuth && (f.http.auth.mode != "" || f.bearer != ""):
		return usagef("--no-auth lets everybody in, and --auth and --bearer do not: use one of them")
	case f.http.auth.mode == "dev":
		return usagef("--auth dev is for the reference server; use --bearer @FILE, or --auth issuer=URL")
	case f.http.addr == "":
		return nil
	}
	if f.bearer != "" {
		if f.http.bearer, err = readBearer(f.bearer); err != nil {
			return err
		}
	}
	if !f.noAuth && f.http.auth.mode == "" && f.http.bearer == "" && !isLoopback(webserver.Address(f.http.addr)) {
		return usagef("--http %s can be reached from other machines; say who may use the server with --auth or --bearer, or --no-auth for everybody", f.http.addr)
	}
	return f.http.auth.check()
}

// secrets are what the flags say that nobody else is to know, once they were checked.
func (f *frontFlags) secrets() []string {
	if f.http.bearer == "" {
		return nil
	}
	return []string{f.http.bearer}
}

// isLoopback reports whether an address to listen on can be reached only from this
// machine.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return true // listening fails
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
