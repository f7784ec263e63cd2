package mcp

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/wire"
)

// ExtensionSkills identifies the extension by which servers publish Agent
// Skills: directories of instructions for agents, whose files are resources.
//
// Spec: ext-skills/stable skills#extension-identifier.
const ExtensionSkills = "io.modelcontextprotocol/skills"

// SkillsCapability is what a server declares about its skills, under
// ServerCapabilities.Extensions[ExtensionSkills].
//
// Spec: ext-skills/stable skills#capability-negotiation.
type SkillsCapability struct {
	// DirectoryRead says that the server has resources/directory/read.
	DirectoryRead bool `json:"directoryRead,omitzero"`
}

// Skill is the entry for one skill: what its author says about it, and a
// manifest of its files. It is known by its server together with its URI, never
// by its URI or its name alone.
//
// Spec: ext-skills/stable skills#skill-entries.
type Skill struct {
	// URI is that of the skill's SKILL.md; the last segment but one is its name.
	URI string `json:"uri"`
	// Frontmatter is the YAML frontmatter of SKILL.md as a JSON object, which
	// has at least "name" and "description", both strings.
	Frontmatter json.RawMessage `json:"frontmatter"`
	// Resources are the skill's files.
	Resources SkillResources `json:"resources"`
}

// Name returns the name in the skill's frontmatter, or "" if there is none. It
// is a label: other skills of the same server may have it too.
func (s *Skill) Name() string { return s.text("name") }

// Description returns the description in the skill's frontmatter, or "".
func (s *Skill) Description() string { return s.text("description") }

func (s *Skill) text(member string) string {
	text, _ := wire.Text(wire.Find(s.Frontmatter, member))
	return text
}

// SkillResources are the files of a skill: either all of them, or the statement
// that they are made anew whenever they are read, so that there are no digests.
// The zero value is neither. It stands for whatever else a server has sent, or
// left out, and a skill that has it must not be loaded.
//
// Spec: ext-skills/stable skills#resources.
type SkillResources struct {
	// Files are all files of the skill, each once, with SKILL.md.
	Files []SkillResource
	// Dynamic says that there are no digests. Files is nil then.
	Dynamic bool
}

// Valid reports whether r is one of the two forms.
func (r SkillResources) Valid() bool { return r.Dynamic != (r.Files != nil) }

// dynamicResources is what stands in place of a list of files.
const dynamicResources = "dynamic"

// MarshalJSON writes an array or the string "dynamic", and null for what is
// neither.
func (r SkillResources) MarshalJSON() ([]byte, error) {
	switch {
	case r.Dynamic:
		return wire.Marshal(dynamicResources)
	case r.Files == nil:
		return []byte("null"), nil
	}
	return wire.Marshal(r.Files)
}

// UnmarshalJSON reads what MarshalJSON writes. Anything else is the zero value
// instead of an error, so that one bad skill does not cost a client the whole
// list.
func (r *SkillResources) UnmarshalJSON(data []byte) error {
	*r = SkillResources{Dynamic: wire.Is(data, dynamicResources)}
	if r.Dynamic {
		return nil
	}
	var files []SkillResource
	if wire.Unmarshal(data, &files) == nil {
		r.Files = files
	}
	return nil
}

// SkillResource is a file of a skill.
type SkillResource struct {
	URI string `json:"uri"`
	// Digest is "sha256:" and the hash of the file's bytes in 64 lowercase
	// hexadecimal digits.
	Digest string `json:"digest"`
	// Size is the number of those bytes.
	Size int64 `json:"size"`
}

// ListSkillsResult is a page of skills. A server need not list all it has.
//
// Spec: ext-skills/stable skills#listing-skills.
type ListSkillsResult struct {
	ResultFields
	CacheFields
	Skills     []*Skill `json:"skills"`
	NextCursor *string  `json:"nextCursor,omitzero"`

	encodedEntries `json:"-"`
}

// GetSkillParams names a skill by the URI of its SKILL.md.
//
// Spec: ext-skills/stable skills#getting-a-skill.
type GetSkillParams struct {
	URI string `json:"uri"`
}

// GetSkillResult is the entry for one skill.
type GetSkillResult struct {
	ResultFields
	CacheFields
	Skill *Skill `json:"skill"`
}

// MIMETypeDirectory is the MIME type of resources that are directories.
//
// Spec: ext-skills/stable skills#directory-resources.
const MIMETypeDirectory = "inode/directory"

// ReadDirectoryParams names a directory by its URI, which has no slash at its
// end, and a page of what it contains: the one that the cursor points to, or the
// first.
//
// Spec: ext-skills/stable skills#reading-directories.
type ReadDirectoryParams struct {
	URI    string  `json:"uri"`
	Cursor *string `json:"cursor,omitzero"`
}

// ReadDirectoryResult is a page of the direct children of a directory.
// Directories among them have the MIME type MIMETypeDirectory.
type ReadDirectoryResult struct {
	ResultFields
	Resources  []*Resource `json:"resources"`
	NextCursor *string     `json:"nextCursor,omitzero"`
}
