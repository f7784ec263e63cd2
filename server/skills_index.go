package server

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parley-mcp/parley/mcp"
)

// skillState is what a server knows of its skills.
type skillState struct {
	listed   registry[mcp.Skill, *skillPlan]
	unlisted registry[mcp.Resource, *resource] // the files of unlisted skills
	used     atomic.Bool

	mu   sync.Mutex // serializes changes
	sets []*SkillSet
	made atomic.Pointer[skillIndex]
}

// skillIndex is where everything is. It is not changed.
type skillIndex struct {
	skills  map[string]*skillPlan // by the URIs of their SKILL.md, listed or not
	dynamic []*skillPlan
	dirs    map[string]*snapshot[mcp.Resource, *resource] // what each directory contains, by URI
}

func (k *skillState) index() *skillIndex {
	if made := k.made.Load(); made != nil {
		return made
	}
	return &skillIndex{}
}

// file returns a resource that is listed among those of a server, or is a file of an
// unlisted skill.
func (k *skillState) file(listed *registry[mcp.Resource, *resource], uri string) (*resource, bool) {
	if r, ok := listed.get(uri); ok {
		return r, true
	}
	return k.unlisted.get(uri)
}

// around returns the dynamic skill that a URI belongs to, or nil.
func (x *skillIndex) around(uri string) *skillPlan {
	for _, p := range x.dynamic {
		if isWithin(uri, p.root) {
			return p
		}
	}
	return nil
}

// skillsFit checks that nothing else has the URIs of next, which is to replace what
// set has. skills.mu is held.
func (s *Server) skillsFit(set *SkillSet, next *skillFiles) error {
	for _, other := range s.skills.sets {
		if other == set {
			continue
		}
		for _, p := range next.skills {
			if q := overlapping(p, other.now.skills); q != nil {
				return fmt.Errorf("%s: the skill %s was added separately, and one must not be within the other: add both with one file tree", p.skill.URI, q.skill.URI)
			}
		}
	}
	for _, f := range next.files {
		if r, ok := s.resources.get(f.plan.key()); ok && !r.ofSkill {
			return fmt.Errorf("%s: there is a resource with this URI already", f.plan.key())
		}
	}
	return nil
}

func overlapping(p *skillPlan, others []*skillPlan) *skillPlan {
	for _, q := range others {
		if isWithin(p.root, q.root) || isWithin(q.root, p.root) {
			return q
		}
	}
	return nil
}

// replaceSkills puts next in the place of what set has. A client that reads
// meanwhile may get a new file under an old manifest, as if it had asked a little
// earlier for the manifest, but never the other way round. skills.mu is held.
func (s *Server) replaceSkills(set *SkillSet, next *skillFiles) {
	old := set.now
	set.now = next
	s.skills.sets = slices.DeleteFunc(s.skills.sets, func(other *SkillSet) bool { return other == set })
	if !set.removed {
		s.skills.sets = append(s.skills.sets, set)
	}
	s.skills.used.Store(true)

	changed := s.putFiles(old, next)
	listChanged := s.putSkills(old, next)
	s.skills.made.Store(newSkillIndex(s.skills.sets))
	gone := s.removeFiles(old, next)

	if listChanged || len(changed)+len(gone) > 0 {
		s.hub.Publish(mcp.Change{Kind: mcp.ResourcesChanged})
	}
	for _, uri := range slices.Concat(changed, gone) {
		s.ResourceUpdated(uri)
	}
}

func (s *Server) filesOf(listed bool) *registry[mcp.Resource, *resource] {
	if listed {
		return &s.resources
	}
	return &s.skills.unlisted
}

// putFiles adds the files of next that old lacks or has in another form, and returns
// their URIs.
func (s *Server) putFiles(old, next *skillFiles) (changed []string) {
	known := map[string]*skillFile{}
	for _, f := range old.files {
		known[f.plan.key()] = f
	}
	for _, f := range next.files {
		uri := f.plan.key()
		if was := known[uri]; was != nil && was.digest == f.digest && reflect.DeepEqual(was.plan.desc(), f.plan.desc()) {
			continue
		}
		s.filesOf(f.listed).put(f.plan)
		changed = append(changed, uri)
	}
	return changed
}

// removeFiles removes the files of old that next lacks, and returns their URIs.
func (s *Server) removeFiles(old, next *skillFiles) (gone []string) {
	kept := map[string]bool{}
	for _, f := range next.files {
		kept[f.plan.key()] = true
	}
	for _, f := range old.files {
		if uri := f.plan.key(); !kept[uri] {
			s.filesOf(f.listed).remove(uri)
			gone = append(gone, uri)
		}
	}
	return gone
}

// putSkills brings the list of skills into line, and reports whether it changed.
func (s *Server) putSkills(old, next *skillFiles) (changed bool) {
	known := map[string]*skillPlan{}
	for _, p := range old.skills {
		known[p.key()] = p
	}
	for _, p := range next.skills {
		was := known[p.key()]
		delete(known, p.key())
		if was == nil || !reflect.DeepEqual(was.desc(), p.desc()) {
			changed = true
			if p.listed {
				s.skills.listed.put(p)
			}
		}
	}
	for uri := range known {
		s.skills.listed.remove(uri)
		changed = true
	}
	return changed
}

// newSkillIndex indexes everything that sets have.
func newSkillIndex(sets []*SkillSet) *skillIndex {
	x := &skillIndex{skills: map[string]*skillPlan{}, dirs: map[string]*snapshot[mcp.Resource, *resource]{}}
	children := map[string][]*resource{}
	for _, set := range sets {
		for _, p := range set.now.skills {
			x.skills[p.key()] = p
			if p.made != nil {
				x.dynamic = append(x.dynamic, p)
			}
		}
		for _, d := range set.now.dirs {
			children[d.URI] = nil
		}
	}
	seen := map[string]bool{} // several sets may have the same directory
	adopt := func(child *resource) {
		parent := parentOf(child.key())
		if list, ok := children[parent]; ok && !seen[child.key()] {
			seen[child.key()] = true
			children[parent] = append(list, child)
		}
	}
	for _, set := range sets {
		for _, f := range set.now.files {
			adopt(f.plan)
		}
		for _, d := range set.now.dirs {
			adopt(&resource{resource: *d})
		}
	}
	for uri, list := range children {
		x.dirs[uri] = newListing(list)
	}
	return x
}
