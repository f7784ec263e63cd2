package mutant

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mcp/parley/internal/check/peer"
)

// apply makes the edits, in order.
func (f *frame) apply(edits []edit) (all [][]byte, main int) {
	var before, after [][]byte
	var verbatim []byte
	dropped, times := false, 1
	for _, e := range edits {
		switch e.verb {
		case "set":
			f.value = put(f.value, split(e.path), f.json(e.text))
		case "delete":
			f.value = remove(f.value, split(e.path))
		case "copy":
			v, _ := peer.Get(f.value, e.path)
			f.value = put(f.value, split(strings.TrimPrefix(e.text, "/")), v)
		case "replace":
			f.value = f.json(e.text)
		case "fail", "succeed":
			f.value = f.answer(e)
		case "text":
			verbatim = []byte(e.text)
		case "raw":
			old := e.path
			fresh, _ := strconv.Unquote(e.text) // it was checked
			if verbatim == nil {
				verbatim = peer.Encode(f.value)
			}
			verbatim = bytes.ReplaceAll(verbatim, []byte(old), []byte(fresh))
		case "drop":
			dropped = true
		case "close":
			return [][]byte{nil}, -1
		case "repeat":
			times++
		case "before":
			before = append(before, peer.Encode(f.json(e.text)))
		case "after":
			after = append(after, peer.Encode(f.json(e.text)))
		case "flood":
			after = append(after, f.flood(e)...)
		case "delay":
			d, _ := time.ParseDuration(e.text) // it was checked
			<-time.NewTimer(d).C
		}
	}
	if verbatim == nil {
		verbatim = peer.Encode(f.value)
	}
	all, main = before, len(before)
	if dropped {
		main = -1
	}
	for range times {
		if !dropped {
			all = append(all, verbatim)
		}
	}
	return append(all, after...), main
}

// flood repeats a message with a number in it that grows.
func (f *frame) flood(e edit) [][]byte {
	var all [][]byte
	times, _ := strconv.Atoi(e.text) // it was checked
	for n := range times {
		v, _ := peer.Get(f.value, e.path)
		begin, _ := v.(json.Number)
		at, _ := begin.Int64()
		all = append(all, peer.Encode(put(f.value, split(e.path), at+int64(n)+1)))
	}
	return all
}

// answer turns a response into an error or a result.
func (f *frame) answer(e edit) any {
	id, _ := peer.Get(f.value, "id")
	if e.verb == "succeed" {
		return map[string]any{"jsonrpc": "2.0", "id": id, "result": f.json(e.text)}
	}
	return map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": json.Number(e.path), "message": e.text}}
}

// json decodes an argument, with what stands for parts of the message.
func (f *frame) json(text string) any {
	id, _ := peer.Get(f.value, "id")
	text = strings.ReplaceAll(text, `"$id"`, string(peer.Encode(id)))
	text = strings.ReplaceAll(text, `"$method"`, string(peer.Encode(f.method)))
	text = reference.ReplaceAllStringFunc(text, func(ref string) string {
		v, _ := peer.Get(f.value, ref[len(`"$/`):len(ref)-1])
		return string(peer.Encode(v))
	})
	text = askedReference.ReplaceAllStringFunc(text, func(ref string) string {
		if f.asked == nil {
			return "null"
		}
		v, _ := peer.Get(f.asked.value, ref[len(`"$asked/`):len(ref)-1])
		return string(peer.Encode(v))
	})
	v, err := peer.Decode([]byte(text))
	if err != nil {
		panic("mutant: " + err.Error()) // it was checked
	}
	return v
}

// reference stands for what is at a JSON pointer of the message.
var reference = regexp.MustCompile(`"\$/[^"]*"`)

// askedReference is that of the request that the message answers.
var askedReference = regexp.MustCompile(`"\$asked/[^"]*"`)
