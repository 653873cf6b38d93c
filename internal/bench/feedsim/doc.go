// Package feedsim runs changefeeds in virtual time: the workload of an order system, a target, a redo log, and three ways to decide who reads.
//
//	workload ──▶ scheduler (A, B or C) ──▶ redo log ──▶ 16 connections of a target, some slow, some hung
//
// C is package schedule, the one that production uses. A is a scheduler with a fence: no cursor reads further ahead of the slowest one than an interval. B is A without the
// fence. Both charge memory only until updates are handed on. A has a fault that C must not have: a table whose target is slow pins the fence, and all others starve.
//
// Nothing here waits: an event queue holds what happens next, and the clock jumps to it. A run of twenty minutes takes seconds and gives the same figures each time.
package feedsim
