package client

import "fmt"

// SkillCheck is something that is checked of a skill before a host may use it.
type SkillCheck string

// The checks of skills.
//
// Spec: ext-skills/stable skills#integrity-and-verification.
const (
	// CheckEntry: what the server says of the skill is well-formed and complete.
	CheckEntry SkillCheck = "entry"
	// CheckName: the skill's URI ends with its name.
	CheckName SkillCheck = "name"
	// CheckLimits: the skill is within the limits of the extension, 512 files and
	// 16 MiB.
	CheckLimits SkillCheck = "limits"
	// CheckDynamic: the skill is not one without digests, where those are declined or
	// cannot do.
	CheckDynamic SkillCheck = "dynamic"
	// CheckManifest: the file is one of those in the entry.
	CheckManifest SkillCheck = "manifest"
	// CheckSize and CheckDigest: the file has as many bytes, and those bytes, as the
	// entry says.
	CheckSize   SkillCheck = "size"
	CheckDigest SkillCheck = "digest"
	// CheckFrontmatter: each field of the frontmatter of SKILL.md is what the entry
	// says.
	CheckFrontmatter SkillCheck = "frontmatter"
)

// SkillError says that a skill, or a file of one, must not be used. If Check is
// CheckManifest, CheckSize or CheckDigest, the skill may have changed since its entry
// was fetched: GetSkill with WithFresh gets the present one, and what was approved
// before then has to be approved again.
type SkillError struct {
	// Server is the label of the server, as it was given to HoldSkill, and URI that of
	// the skill.
	Server, URI string
	// File is the URI of the file, or what stood in place of one; it is "" if the
	// skill as a whole is meant.
	File string
	// Check is what has failed.
	Check SkillCheck
	// Err says how.
	Err error
}

// Error names the skill, its server, and what is wrong.
func (e *SkillError) Error() string {
	where := ""
	if e.File != "" && e.File != e.URI {
		where = fmt.Sprintf(" %.200q:", e.File)
	}
	return fmt.Sprintf("skill %.200q of %.200q:%s %v", e.URI, e.Server, where, e.Err)
}

// Unwrap returns what is wrong.
func (e *SkillError) Unwrap() error { return e.Err }
