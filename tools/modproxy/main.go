// Modproxy publishes a module from a folder into a module proxy made of files,
// which GOPROXY=file://... reads.
//
//	modproxy -proxy FOLDER -module PATH -version VERSION FOLDER
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("modproxy: ")
	proxy := flag.String("proxy", "", "the `folder` of the proxy")
	path := flag.String("module", "", "the `path` of the module")
	version := flag.String("version", "", "the `version` to publish it as, which replaces any other")
	flag.Parse()
	if flag.NArg() != 1 || *proxy == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := publish(*proxy, module.Version{Path: *path, Version: *version}, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

// publish writes the four files in which the go command looks for a version;
// see https://go.dev/ref/mod#goproxy-protocol.
func publish(proxy string, m module.Version, dir string) error {
	if err := module.Check(m.Path, m.Version); err != nil {
		return err
	}
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	to := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(to, 0o750); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod")) //nolint:gosec // the folder that the caller names
	if err != nil {
		return err
	}
	for name, content := range map[string]string{
		m.Version + ".info": fmt.Sprintf(`{"Version":%q,"Time":%q}`, m.Version, time.Now().UTC().Format(time.RFC3339)),
		m.Version + ".mod":  string(mod),
		"list":              m.Version + "\n",
	} {
		if err := os.WriteFile(filepath.Join(to, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return pack(filepath.Join(to, m.Version+".zip"), m, dir)
}

// pack leaves out what does not belong into a module's zip: other modules in
// its folders, and the files of version control.
func pack(file string, m module.Version, dir string) error {
	f, err := os.Create(file) //nolint:gosec // below the folder that the caller names
	if err != nil {
		return err
	}
	if err := zip.CreateFromDir(f, m, dir); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
