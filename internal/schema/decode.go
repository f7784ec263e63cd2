package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits on a JSON number. An exponent is expanded when numbers are compared
// exactly, so a few bytes could otherwise stand for megabytes.
const (
	maxNumberLen = 4096
	maxExponent  = 1000
)

// Decode reads one JSON value with exact numbers (json.Number), refusing
// duplicate member names and invalid UTF-8.
func Decode(data []byte) (any, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	v, err := decodeValue(dec)
	if err != nil {
		return nil, syntaxError(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more data after the value")
	}
	return v, nil
}

// syntaxError removes the name of the decoder, which means nothing to the
// author of the text.
func syntaxError(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "jsontext: "))
}

func decodeValue(dec *jsontext.Decoder) (any, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	switch tok.Kind() {
	case '{':
		return decodeObject(dec)
	case '[':
		return decodeArray(dec)
	case '"':
		return tok.String(), nil
	case '0':
		n := tok.String()
		return json.Number(n), checkNumber(n)
	case 't', 'f':
		return tok.Bool(), nil
	default:
		return nil, nil //nolint:nilnil // the value of JSON null
	}
}

func decodeObject(dec *jsontext.Decoder) (any, error) {
	obj := map[string]any{}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := tok.String()
		if obj[name], err = decodeValue(dec); err != nil {
			return nil, err
		}
	}
	_, err := dec.ReadToken()
	return obj, err
}

func decodeArray(dec *jsontext.Decoder) (any, error) {
	arr := []any{}
	for dec.PeekKind() != ']' {
		v, err := decodeValue(dec)
		if err != nil {
			return nil, err
		}
		arr = append(arr, v)
	}
	_, err := dec.ReadToken()
	return arr, err
}

func checkNumber(n string) error {
	if len(n) > maxNumberLen {
		return fmt.Errorf("number of %d digits is too long", len(n))
	}
	i := strings.IndexAny(n, "eE")
	if i < 0 {
		return nil
	}
	if exp, err := strconv.Atoi(n[i+1:]); err != nil || exp > maxExponent || exp < -maxExponent {
		return fmt.Errorf("number %.40s is out of range", n)
	}
	return nil
}
