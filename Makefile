# Concert: make help lists what can be done here.
GO         ?= go
FUZZTIME   ?= 20s
BENCHTIME  ?= 1s
BENCHFLAGS ?=
SCALE      ?= 1
PLATFORMS  := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
STATIC     := CGO_ENABLED=0
BUILDFLAGS := -trimpath -ldflags='-s -w'
DIST       := dist
STATICCHECK = $(GO) tool -modfile=tools/go.mod staticcheck

.DEFAULT_GOAL := help
.PHONY: help all test race coverage fuzz bench benchmarks build lint docs deps clean release reproducible package-test boot-test keys up down demo $(PLATFORMS)

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# One after the other, also with -j: measurements and tests that share a machine
# disturb each other.
all: ## lint, clean, test with and without the race detector, run benchmarks, build
	@for target in lint clean test race benchmarks; do $(MAKE) -j1 $$target || exit; done
	@$(MAKE) build

deps: ## find or install the programs that the tests drive
	@.ci/deps

# Tests that run beside others mostly wait, for programs and browsers: four at a
# time, in each of two packages, keep two processors busy. -count=1 keeps Go from
# repeating an old result: of a binary that tests build and start it knows nothing.
test: deps ## run every test, with the real browser, nginx, PHP and curl
	$(GO) test -count=1 -timeout 30m -parallel 4 ./...
	cd deploy && $(GO) test -count=1 -timeout 30m ./...

race: deps ## run every test that needs no browser under the race detector, in random order
	$(GO) test -race -shuffle=on -count=1 -timeout 30m -parallel 4 ./...

coverage: deps ## say how much of each package the tests reach, from whichever package or a started binary, the least first
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && export COVERDIR="$$dir" && \
	$(GO) test -count=1 -timeout 30m -parallel 4 -coverpkg=./... ./... -args -test.gocoverdir="$$dir" && \
	$(GO) tool covdata percent -i="$$dir" | awk '{ print $$3, $$1 }' | sort -n

fuzz: ## fuzz every target for FUZZTIME (20s) each
	@GO="$(GO)" .ci/fuzz $(FUZZTIME)

bench: deps ## measure everything and write the tables of docs/performance.md (Linux, 25 minutes)
	$(GO) run ./bench/cmd/tables -scale $(SCALE)

benchmarks: ## run every benchmark, the drain of a crowd included
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) $(BENCHFLAGS) -timeout 40m ./...

build: $(PLATFORMS) ## build static binaries for every platform into bin/

$(PLATFORMS):
	$(STATIC) GOOS=$(@D) GOARCH=$(@F) $(GO) build $(BUILDFLAGS) \
		-o bin/concert-$(@D)-$(@F)$(if $(filter windows,$(@D)),.exe) ./cmd/concert

release: ## build all of a release into dist/, from what is committed
	@GO="$(GO)" .ci/release $(DIST) $(PLATFORMS)

reproducible: ## build one platform again and compare it with dist/
	@GO="$(GO)" .ci/reproducible $(DIST)

package-test: ## install and remove the Debian package of dist/ in a throw-away root
	@.ci/package $(DIST)

boot-test: ## try package and installer of dist/ under a systemd of their own (root)
	@.ci/booted $(DIST)

lint: ## vet, gofmt and staticcheck
	$(GO) vet ./...
	@files=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$files" || { echo "gofmt would change:"; echo "$$files"; exit 1; }
	$(STATICCHECK) ./...

docs: ## write the generated parts of the documentation
	$(GO) run ./cmd/concert docs .

keys: ## make the secrets that deploy/compose needs
	$(GO) run ./cmd/concert keys secrets deploy/compose/secrets

up: keys ## build and start off-site rooms in containers
	docker compose -f deploy/compose/compose.yaml up --build --detach

down: ## stop the containers; rooms are kept
	docker compose -f deploy/compose/compose.yaml down

demo: ## walk through an off-site room, in the containers or on processes
	@deploy/compose/demo.sh

clean: ## remove what was built
	rm -rf bin $(DIST)
