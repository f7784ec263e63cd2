package child

import (
	"os"
	"runtime"
	"strings"
)

// essentials are the variables that programs need to find themselves, their user
// and their temporary files. None of them holds a secret.
func essentials() []string {
	if runtime.GOOS == "windows" {
		return []string{
			"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE",
			"PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
		}
	}
	return []string{"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
}

// environ returns the environment of the process to start.
func (o *Options) environ() []string {
	if !o.CleanEnv {
		return append(os.Environ(), o.Env...)
	}
	var env []string
	for _, name := range essentials() {
		// Some shells export functions in variables, which is code.
		if value, ok := os.LookupEnv(name); ok && !strings.HasPrefix(value, "()") {
			env = append(env, name+"="+value)
		}
	}
	return append(env, o.Env...)
}
