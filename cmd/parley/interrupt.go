package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupts ends a context at the first signal that asks the program to stop, and the
// program at the second, unless an interrupt is caught.
type interrupts struct {
	mu     sync.Mutex
	caught func()
}

// watch returns the context.
func (i *interrupts) watch() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with the first signal that is not caught, or with the program
		for s := range signals {
			if s == os.Interrupt && i.take() {
				continue
			}
			signal.Stop(signals) // a second signal ends the program at once
			cancel()
			return
		}
	}()
	return ctx
}

// take gives an interrupt to whoever catches it.
func (i *interrupts) take() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.caught == nil {
		return false
	}
	i.caught()
	return true
}

// catch has interrupts call f until release is called.
func (i *interrupts) catch(f func()) (release func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.caught = f
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.caught = nil
	}
}

// catchHangup has hangups call f until release is called.
func catchHangup(f func()) (release func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	done := make(chan struct{})
	go func() { // ends with release
		for {
			select {
			case <-signals:
				f()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
