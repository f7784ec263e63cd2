package reference

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

const sampleRate = 16000 // Hz

type toneArgs struct {
	Frequency float64 `json:"frequency" description:"Pitch in Hz; 440 is concert pitch" default:"440" minimum:"20" maximum:"7000"`
	Seconds   float64 `json:"seconds" description:"How long it sounds" default:"1" minimum:"0.05" maximum:"10"`
}

func (r *reference) addTone() {
	server.AddTool(r.srv, mcp.Tool{
		Name:        "make_tone",
		Title:       "Tone",
		Description: "Synthesizes a sine tone and returns it as WAV audio, 16 bit, mono.",
		Annotations: readOnly(),
	}, makeTone)
}

func makeTone(_ context.Context, _ *server.Call, in toneArgs) (*mcp.CallToolResult, error) {
	sound, err := wav(sine(in.Frequency, in.Seconds))
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: mcp.Contents{
		mcp.Text(fmt.Sprintf("Sine tone of %g Hz, %g s", in.Frequency, in.Seconds)),
		&mcp.AudioContent{Data: sound, MIMEType: "audio/wav"},
	}}, nil
}

// sine fades in and out, so that it does not click.
func sine(frequency, seconds float64) []int16 {
	samples := make([]int16, int(seconds*sampleRate))
	const fade = sampleRate / 100
	for i := range samples {
		edge := min(i, len(samples)-1-i)
		volume := 0.5 * min(1, float64(edge)/fade)
		samples[i] = int16(volume * math.MaxInt16 * math.Sin(2*math.Pi*frequency*float64(i)/sampleRate))
	}
	return samples
}

// wav puts samples behind the header of a RIFF WAVE file.
func wav(samples []int16) ([]byte, error) {
	const bytesPerSample = 2
	size := uint32(len(samples) * bytesPerSample) //nolint:gosec // toneArgs bounds it
	header := struct {
		RIFF                [4]byte
		FileSize            uint32
		WAVE, Format        [4]byte
		FormatSize          uint32
		PCM, Channels       uint16
		SampleRate, Bytes   uint32
		Align, BitsOfSample uint16
		Data                [4]byte
		DataSize            uint32
	}{
		[4]byte{'R', 'I', 'F', 'F'},
		36 + size,
		[4]byte{'W', 'A', 'V', 'E'},
		[4]byte{'f', 'm', 't', ' '},
		16, 1, 1, sampleRate, sampleRate * bytesPerSample, bytesPerSample, 8 * bytesPerSample,
		[4]byte{'d', 'a', 't', 'a'},
		size,
	}
	var file bytes.Buffer
	if err := binary.Write(&file, binary.LittleEndian, header); err != nil {
		return nil, err
	}
	if err := binary.Write(&file, binary.LittleEndian, samples); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}
