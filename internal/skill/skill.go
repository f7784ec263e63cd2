// Package skill knows the rules of Agent Skills and of serving them: what a
// SKILL.md must say, which URIs its files have, and what a manifest of them must
// list. It does no I/O of its own but for reading a given file tree.
package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/parley-mcp/parley/internal/wire"
)

// File is the name of the file that makes a directory a skill.
const File = "SKILL.md"

// The size of a skill that every host accepts.
//
// Spec: ext-skills/stable skills#limits.
const (
	MaxFiles = 512
	MaxBytes = 16 << 20 // of all files together
)

// The lengths that Agent Skills allows, in characters.
const (
	maxName          = 64
	maxDescription   = 1024
	maxCompatibility = 500
)

// digestPrefix names the hash function of digests.
const digestPrefix = "sha256:"

// Digest returns the digest of a file as a manifest has it.
//
// Spec: ext-skills/stable skills#integrity-and-verification.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// CheckDigest checks the form of a digest.
func CheckDigest(digest string) error {
	digits, ok := strings.CutPrefix(digest, digestPrefix)
	if !ok || len(digits) != 2*sha256.Size || strings.Trim(digits, "0123456789abcdef") != "" {
		return fmt.Errorf("digest %.100q: it must be %q and 64 lowercase hexadecimal digits", digest, digestPrefix)
	}
	return nil
}

// CheckName checks a skill's name by the rules of Agent Skills.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > maxName:
		return fmt.Errorf("the name %.80q has more than %d characters", name, maxName)
	case strings.ContainsFunc(name, notInName):
		return fmt.Errorf("the name %q may only have lowercase letters a to z, digits and hyphens", name)
	case name[0] == '-' || name[len(name)-1] == '-' || strings.Contains(name, "--"):
		return fmt.Errorf("the name %q must not begin or end with a hyphen, or have two in a row", name)
	}
	return nil
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
}

// Check checks frontmatter, as Frontmatter returns it, by the rules of Agent
// Skills. Fields that they do not know are allowed. The error names the rule and
// what to do.
//
// Spec: ext-skills/stable skills#skill-format.
func Check(frontmatter json.RawMessage) error {
	name, _, err := Texts(frontmatter)
	if err != nil {
		return err
	}
	if err := CheckName(name); err != nil {
		return err
	}
	for field, value := range wire.Each(frontmatter) {
		if err := checkField(string(field), value); err != nil {
			return err
		}
	}
	return nil
}

// Texts returns the name and the description in frontmatter, which each skill has.
//
// Spec: ext-skills/stable skills#frontmatter.
func Texts(frontmatter json.RawMessage) (name, description string, err error) {
	if name, err = filled("name", wire.Find(frontmatter, "name")); err != nil {
		return "", "", err
	}
	description, err = filled("description", wire.Find(frontmatter, "description"))
	return name, description, err
}

func checkField(field string, value json.RawMessage) error {
	switch field {
	case "description":
		return checkLength(field, value, maxDescription)
	case "compatibility":
		return checkLength(field, value, maxCompatibility)
	case "license":
		_, err := text(field, value)
		return err
	case "metadata":
		return checkMetadata(value)
	case "allowed-tools":
		return checkTools(value)
	}
	return nil
}

func checkLength(field string, value json.RawMessage, most int) error {
	s, err := filled(field, value)
	if n := utf8.RuneCountInString(s); n > most {
		return fmt.Errorf("%q has %d characters, and at most %d are allowed", field, n, most)
	}
	return err
}

// filled returns the string that a field has to be, which must not be blank.
func filled(field string, value json.RawMessage) (string, error) {
	s, err := text(field, value)
	if err == nil && strings.TrimSpace(s) == "" {
		err = fmt.Errorf("%q is empty", field)
	}
	return s, err
}

func checkMetadata(value json.RawMessage) error {
	if len(value) == 0 || value[0] != '{' {
		return errors.New(`"metadata" is not a mapping`)
	}
	for key, v := range wire.Each(value) {
		if _, err := text("metadata."+string(key), v); err != nil {
			return err
		}
	}
	return nil
}

func checkTools(value json.RawMessage) error {
	if _, ok := wire.Text(value); ok {
		return nil
	}
	var list []json.RawMessage
	if wire.Unmarshal(value, &list) != nil {
		return errors.New(`"allowed-tools" is neither a string nor a list of strings`)
	}
	for _, tool := range list {
		if _, err := text("allowed-tools", tool); err != nil {
			return err
		}
	}
	return nil
}

// text returns the string that a field has to be.
func text(field string, value json.RawMessage) (string, error) {
	if len(value) == 0 {
		return "", fmt.Errorf("%q is missing", field)
	}
	if s, ok := wire.Text(value); ok {
		return s, nil
	}
	if strings.ContainsAny(string(value[:1]), "{[n") {
		return "", fmt.Errorf("%q must be a string", field)
	}
	return "", fmt.Errorf("%q must be a string: put %.40s in quotes", field, value)
}
