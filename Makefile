# make build   bin/tailrace
# make demo    build it and run `tailrace demo`
# make test    every test, quick ones; installs what they need from Debian where it may
# make long    the same tests with many more rounds (TAILRACE_LONG=1)
# make race    the tests of the rooms that share memory, with the race detector
# make worlds  simulated worlds only: SEED=17 replays one, SEEDS=1000 FIRST=500 runs a range
# make bench   bench load on this machine, beside POSTGRES=URL if given; BENCH=base, start, lookup, storm, snapshot or live for another, FLAGS for more
# make micro   benchmarks of encodings, parsers and symbol tables, COUNT times each, for benchstat
# make lint    gofumpt, go vet, golangci-lint, at pinned versions

SHELL := /bin/sh
GO ?= go
TOOLS := bin/tools
GOFUMPT_VERSION := v0.9.2
GOLANGCI_VERSION := v2.12.2
GOFUMPT := $(TOOLS)/gofumpt-$(GOFUMPT_VERSION)
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)

.PHONY: build demo test long race worlds bench micro lint tools test-deps clean

build:
	$(GO) build -o bin/tailrace ./cmd/tailrace

demo: build
	@exec bin/tailrace demo

test: test-deps
	$(GO) test ./...

long: test-deps
	TAILRACE_LONG=1 $(GO) test -tags long -timeout 6h ./...

race: test-deps
	$(GO) test -race -timeout 30m ./...

worlds:
	$(GO) test ./internal/sim/world -run TestWorld -count 1 -timeout 6h -v $(if $(SEED),-seed $(SEED)) $(if $(SEEDS),-seeds $(SEEDS)) $(if $(FIRST),-first $(FIRST))

bench: build
	@bin/tailrace bench $(or $(BENCH),load) --json $(if $(POSTGRES),--postgres $(POSTGRES)) $(FLAGS)

micro:
	@$(GO) test -run '^$$' -bench . -count $(or $(COUNT),6) ./stripe ./fsst ./format ./pool

lint: tools
	@out=$$($(GOFUMPT) -l . 2>&1); if [ -n "$$out" ]; then echo "gofumpt -w these:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GOLANGCI) run ./...

tools: $(GOFUMPT) $(GOLANGCI)

$(GOFUMPT):
	@mkdir -p $(TOOLS)
	GOBIN=$(CURDIR)/$(TOOLS) $(GO) install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)
	@mv $(TOOLS)/gofumpt $@

$(GOLANGCI):
	@mkdir -p $(TOOLS)
	GOBIN=$(CURDIR)/$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv $(TOOLS)/golangci-lint $@

# The tests start a PostgreSQL of their own and connect with psql and psycopg.
test-deps:
	@.ci/deps

clean:
	rm -rf bin
