package wire

import "bytes"

// Merge applies a change to a document that the program understands only in
// part. before is what the program understood of original, and after is what it
// made of that. Members of original that it did not understand stay; members
// that after lacks are removed; values that are the same in before and after
// keep their text in original, and so numbers keep their digits. All three must
// be valid JSON.
func Merge(original, before, after []byte) ([]byte, error) {
	switch {
	case bytes.Equal(before, after):
		return original, nil
	case isKind('{', original, before, after):
		return mergeObjects(original, before, after)
	case isKind('[', original, before, after):
		return mergeArrays(original, before, after)
	}
	return after, nil
}

func isKind(first byte, docs ...[]byte) bool {
	for _, doc := range docs {
		if s := Skim(doc); s.Next() != first {
			return false
		}
	}
	return true
}

func mergeObjects(original, before, after []byte) ([]byte, error) {
	olds, mades, kept := members(before), members(after), members(original)
	out := []byte{'{'}
	for name, value := range Each(original) {
		old, made := olds[string(name)], mades[string(name)]
		if old != nil && made == nil {
			continue
		}
		var err error
		if old != nil || made != nil {
			if value, err = Merge(value, old, made); err != nil {
				return nil, err
			}
		}
		if out, err = appendMember(out, string(name), value); err != nil {
			return nil, err
		}
	}
	for name, value := range Each(after) {
		// Members that only the encoding added are left out.
		if kept[string(name)] != nil || bytes.Equal(value, olds[string(name)]) {
			continue
		}
		var err error
		if out, err = appendMember(out, string(name), value); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func members(object []byte) map[string][]byte {
	byName := map[string][]byte{}
	for name, value := range Each(object) {
		byName[string(name)] = value
	}
	return byName
}

// mergeArrays merges element by element, if the arrays have the same elements.
func mergeArrays(original, before, after []byte) ([]byte, error) {
	originals, olds, made := elements(original), elements(before), elements(after)
	if len(originals) != len(olds) || len(olds) != len(made) {
		return after, nil
	}
	out := []byte{'['}
	for i := range originals {
		merged, err := Merge(originals[i], olds[i], made[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, merged...)
	}
	return append(out, ']'), nil
}

func elements(array []byte) [][]byte {
	var list [][]byte
	s := Skim(array)
	s.Next()
	for s.Enter(); s.Next() != ']' && s.Next() != 0; {
		list = append(list, s.Skip())
	}
	return list
}
