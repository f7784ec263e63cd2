# The commands of the project; CI runs the same ones.

GO      ?= go
TMP     := .tmp
BIN     := $(TMP)/bin
LINT    := $(BIN)/golangci-lint
LINT_VERSION := v2.15.0
MDBOOK  := $(BIN)/mdbook
MDBOOK_VERSION := 0.5.4
# A number of inputs: with a duration, Go 1.26 now and then reports its own
# deadline as a failure (golang/go#75804).
FUZZTIME ?= 30000x
# How long everything may break.
SOAK ?= 5m
# The SDK's module and the program's, which go.work joins. bench/, tools/ and the
# examples that need modules of other people are workspaces of their own.
PACKAGES := ./... ./cmd/parley/...
EXAMPLES := $(patsubst %/go.mod,%,$(wildcard examples/*/go.mod))

# The race detector needs a C compiler.
RACE := $(shell command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race)

.DEFAULT_GOAL := help
.PHONY: help run build test check lint fuzz soak conform interop api release-proof docs docs-check dead tidy gateway-table bench bench-peers clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build the program and take the tour: a client walks through the reference server in every revision
	@$(TMP)/parley tour

build: ## build the program into .tmp/parley
	@mkdir -p $(TMP)
	CGO_ENABLED=0 $(GO) build -trimpath -o $(TMP)/parley ./cmd/parley

test: ## all tests, with the race detector where there is a C compiler
ifeq ($(RACE),)
	@echo "note: no C compiler, so the race detector is off"
endif
	$(GO) vet $(PACKAGES)
	$(GO) test $(RACE) -shuffle=on $(PACKAGES)
	set -e; for dir in $(EXAMPLES); do (cd $$dir && $(GO) vet ./... && $(GO) test $(RACE) -shuffle=on ./...); done
ifneq ($(RACE),)
	$(GO) test -run '^TestBudget' ./integrationtests/budget ./transport/streamable ./cmd/parley/internal/gateway # the race detector makes allocations of its own
	$(GO) test -run 'Mutants$$' ./internal/check/... ./cmd/parley/internal/devauth # all of them: the race detector leaves time for some only
endif

check: lint ## what one runs before a commit: format, vet, lint, tests
	$(GO) vet $(PACKAGES)
	$(GO) test $(PACKAGES)
	set -e; for dir in $(EXAMPLES); do (cd $$dir && $(GO) vet ./... && $(GO) test ./...); done

$(LINT): Makefile
	GOBIN=$(abspath $(BIN)) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@touch $@

lint: $(LINT) ## golangci-lint, with the formatters
	$(LINT) config verify
	$(LINT) run $(PACKAGES)
	cd tools && $(abspath $(LINT)) run ./...
	set -e; for dir in $(EXAMPLES); do (cd $$dir && $(abspath $(LINT)) run ./... && $(abspath $(LINT)) fmt --diff ./...); done
	$(LINT) fmt --diff $(PACKAGES)

fuzz: ## every fuzz target for FUZZTIME (30000 inputs)
	@set -e; grep -ro --include='*_test.go' --exclude-dir=.tmp --exclude-dir=node_modules '^func Fuzz[[:alnum:]_]*' . | sort \
	| while IFS=: read -r file target; do \
	  package=$$(dirname $$file) name=$${target#func }; \
	  echo "== $$package $$name"; $(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) $$package </dev/null; \
	done

soak: ## random interleavings, and mixed load while everything around breaks, for SOAK (5m)
	PARLEY_SOAK=$(SOAK) $(GO) test $(RACE) -count=1 -v -timeout 0 -run 'TestModel|TestSoak|TestClock|TestPrincipals' ./integrationtests/model ./integrationtests/soak ./cmd/parley/internal/gateway

conform: ## the official conformance suite, and every message against the official schemas
	PARLEY_TEST_ALL=1 $(GO) test -count=1 -v -run 'TestEveryMessage|TestChangelog' ./integrationtests/spec
	./conformance/run.sh

interop: ## clients and servers of other people, in five languages, and nginx
	./interop/run.sh

api: ## incompatible changes of the API since the last tag; fails unless CHANGELOG.md names them
	./tools/api.sh

release-proof: ## publish a copy into a module proxy of files, and go install the program from there
	./tools/release-proof.sh

docs-check: build ## every block of code and every link of README.md and docs/: compiled, run, compared
	cd tools && $(GO) test ./docscheck ./docsite && $(GO) build -o ../$(BIN)/docscheck ./docscheck
	$(BIN)/docscheck -parley $(TMP)/parley $(ARGS) .
	cd tools && $(GO) run ./docsite -root .. $(abspath $(TMP))/site

$(MDBOOK): Makefile
	cargo install mdbook --version $(MDBOOK_VERSION) --locked --no-default-features --features search --root $(TMP)
	@touch $@

docs: $(MDBOOK) ## the documentation as a site in .tmp/site/html, with search; mdBook is installed with cargo
	cd tools && $(GO) run ./docsite -root .. $(abspath $(TMP))/site
	$(MDBOOK) build $(TMP)/site

dead: ## functions that nothing calls, in internal/ and cmd/
	@cd tools && GOBIN=$(abspath $(BIN)) $(GO) install golang.org/x/tools/cmd/deadcode
	@out=$$($(BIN)/deadcode -test $(PACKAGES) | grep -E '^(internal|cmd)/' || true); echo "$$out"; test -z "$$out"

tidy: ## go.mod and generated code are up to date
	$(GO) mod tidy -diff
	# -e: a module that only a dependency's tests need is not on the proxy
	cd cmd/parley && $(GO) mod tidy -e -diff
	cd tools && $(GO) mod tidy -diff
	cd tools/docscheck/peers && GOWORK=off $(GO) mod tidy -diff
	set -e; for dir in $(EXAMPLES); do (cd $$dir && $(GO) mod tidy -diff && $(GO) fix -diff ./...); done
	# what a module lacks, go.work may find in the other one
	GOWORK=off $(GO) build ./...
	cd cmd/parley && GOWORK=off $(GO) build ./...
	$(GO) fix -diff $(PACKAGES)

gateway-table: ## what passes through the gateway: features, eras and transports, each tested; writes and prints docs/gateway-table.md
	$(GO) test -count=1 -run '^TestTable$$' ./cmd/parley/internal/gateway -update
	@cat docs/gateway-table.md

bench: ## benchmarks, compared with main
	./tools/bench.sh

bench-peers: ## measure servers, clients and gateways of other people beside ours, and write docs/performance.md; flags in ARGS
	cd bench && $(GO) run . -out ../docs/performance.md $(ARGS)

clean: ## remove what was built
	rm -rf $(TMP)
