package main

import (
	"context"
	"errors"
)

// What a command that moves data ends with, besides 0 and 80 for a command line that is wrong.
const (
	exitFailed    = 1   // nothing was changed
	exitUnknown   = 2   // the connection was lost when all had been sent: it may be done or not
	exitCancelled = 130 // by Ctrl-C or SIGTERM; nothing was changed
)

// exitError is an error that says with what the program ends.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

// Unwrap is the error itself.
func (e *exitError) Unwrap() error { return e.err }

// exitCode is what the program ends with for err.
func exitCode(err error) int {
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	return exitFailed
}

// cancelled says what a cancelled command left, which is nothing.
func cancelled(ctx context.Context, err error, what string) error {
	if err != nil && ctx.Err() != nil {
		return &exitError{exitCancelled, errors.New("cancelled: " + what)}
	}
	return err
}
