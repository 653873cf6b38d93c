package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A NATS server is spoken to in its text protocol, as much of it as a fan-out takes:
//
//	server    INFO {...}                      first
//	client    CONNECT {...}, PING             server: PONG
//	client    SUB live 1, PING                server: PONG
//	client    PUB live 5 / hello              server: MSG live 1 5 / hello, to each that follows
//	server    PING                            client: PONG
//	server    -ERR 'Slow Consumer'            the end
const (
	natsName    = "nats" // in a report
	natsSubject = "live"
)

func (c *stormClient) natsHello() error {
	c.next = c.natsMessage
	if kind, _, err := c.next(); err != nil || kind != 'I' {
		return fmt.Errorf("no INFO of a NATS server: %w", err)
	}
	return c.natsAsk(`CONNECT {"verbose":false,"pedantic":false,"name":"tailrace bench"}`)
}

// natsFollow subscribes: from here on every message comes.
func (c *stormClient) natsFollow() error { return c.natsAsk("SUB " + natsSubject + " 1") }

// natsAsk sends a command and waits until the server has seen it.
func (c *stormClient) natsAsk(command string) error {
	if _, err := c.conn.Write([]byte(command + "\r\n")); err != nil {
		return err
	}
	return c.natsSeen()
}

// natsSeen waits until the server has seen what was sent.
func (c *stormClient) natsSeen() error {
	if _, err := c.conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	return c.until('Z')
}

// natsMessage reads one operation. Its kind is that of the PostgreSQL message that does the same: 'd' is a row, 'Z' means that what was asked before is done.
func (c *stormClient) natsMessage() (kind byte, body []byte, err error) {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		operation, rest, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte{' '})
		switch string(operation) {
		case "MSG":
			body, err = c.natsPayload(rest)
			return 'd', body, err
		case "PING":
			if _, err := c.conn.Write([]byte("PONG\r\n")); err != nil {
				return 0, nil, err
			}
		case "PONG":
			return 'Z', nil, nil
		case "INFO":
			return 'I', nil, nil
		case "-ERR":
			return 0, nil, errors.New(string(rest))
		}
	}
}

// natsPayload reads the payload of a message, whose length is the last of args.
func (c *stormClient) natsPayload(args []byte) ([]byte, error) {
	n, err := strconv.Atoi(string(args[bytes.LastIndexByte(args, ' ')+1:]))
	if err != nil {
		return nil, fmt.Errorf("the length of a message: %w", err)
	}
	payload, err := c.in.Peek(n)
	if err != nil {
		return nil, err
	}
	_, err = c.in.Discard(n + len("\r\n"))
	return payload, err
}

// natsLive is a live row as a message: the line that a client of ours gets. The time of its commit is that of its sending.
func natsLive(i int, due time.Time) string {
	line := fmt.Sprintf("%d\tf\t1\t%d\t%d\t%s\n", time.Now().UnixMicro(), i, due.UnixMicro(), liveBody)
	return fmt.Sprintf("PUB %s %d\r\n%s\r\n", natsSubject, len(line), line)
}

// measureNATS runs a scenario once: as many clients follow the same payloads, sent at the same rate.
func (s *storming) measureNATS(ctx context.Context, server string, scenario liveScenario) (*liveMeasured, error) {
	address, err := natsAddress(server)
	if err != nil {
		return nil, err
	}
	job := scenario.job(address)
	job.NATS = true
	c, err := gather(ctx, s.self, job, scenario.clients)
	if err != nil {
		return nil, err
	}
	defer c.end()
	publisher := newStormClient(&job, -1)
	if err := publisher.connect(); err != nil {
		return nil, fmt.Errorf("connect a publisher: %w", err)
	}
	defer publisher.close()
	m := &liveMeasured{rows: job.Live * scenario.clients}
	return m, m.run(c, func() (written, error) { return publisher.publish(ctx, scenario.rate, job.Live) })
}

// publish sends so many rows at a rate, and returns when the server has them.
func (c *stormClient) publish(ctx context.Context, rate, rows int) (written, error) {
	began := time.Now()
	_, err := paced(ctx, rate, rows, func(i int, due time.Time) error {
		_, err := c.conn.Write([]byte(natsLive(i, due)))
		return err
	})
	if err == nil {
		err = c.natsSeen()
	}
	return written{rows, max(time.Since(began), time.Duration(rows)*time.Second/time.Duration(rate))}, err
}

// natsAddress is where a NATS server listens, by its URL.
func natsAddress(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("%q is not the URL of a NATS server: give one such as nats://127.0.0.1:4222", server)
	}
	if !strings.Contains(u.Host, ":") {
		return u.Host + ":4222", nil
	}
	return u.Host, nil
}
