# make help lists the targets. Everything goes through the Go command.

GO            ?= go
BIN           := bin
TOOLS         := $(BIN)/tools
REPORT_DIR    ?= report
SPECS_REPORT  := $(BIN)/specs.json
RUN_FLAGS     ?=
KILLS         ?= 3
FUZZTIME      ?= 1h
FUZZ_FLAGS    ?= -parallel=1
REAL_CELLS    ?= 'kep-4939/probe/**' 'regressions/kubernetes-30534/**'
BOTH_CELLS    ?= kep-4939/e2e kep-4939/gate kep-4939/rollback kep-4939/upgrade kep-4939/skew kep-5999/e2e kep-5999/rollback kep-5999/upgrade kep-5999/skew kep-4188/pods/evicted kep-4188/watch/life kep-4188/watch/begun-late
KIND_CELLS    ?= kep-4939/e2e/** kep-4939/gate/kubelet-toggled/** kep-4939/rollback/** kep-4939/upgrade/** kep-4939/skew/older-kubelet/** kep-4939/skew/older-controller-manager/**
KIND_RELEASES ?= newest previous
CHROMIUM      ?= chromium
RESULTS       := $(BIN)/results
# A saved report with the requirements of its own cells only.
OWN_CELLS     := '.cells as $$c | .requirements |= map(select(.id as $$id | any($$c[].checks[]; .requirement == $$id)))'
GINKGO        := $(GO) run github.com/onsi/ginkgo/v2/ginkgo --procs=5 --randomize-all --fail-on-pending --fail-on-empty --keep-going --timeout=50m
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.DEFAULT_GOAL := help
.PHONY: help build image man test same conformance watchdog podsapi installed specs suites branch existing upstream sweep rehearse corpus kills contained soak isolation mutants fuzz page pictures results clocks containers real kind bench lint fmt generate newest verify clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

build: ## build bin/skewrig
	$(GO) build -buildvcs=auto -o $(BIN)/skewrig ./cmd/skewrig # reports name the commit

image: ## an OCI image with the default pair, as bin/image (a layout) and bin/skewrig-image.tar (for docker load)
	@mkdir -p $(BIN)
	$(GO) run ./cmd/image --layout $(BIN)/image --tarball $(BIN)/skewrig-image.tar

man: build ## man pages, in bin/man
	$(BIN)/skewrig docs man $(BIN)/man

test: ## unit tests: no Kubernetes build, no network, about a minute
	$(GO) test -short ./...

same: ## compare the plans of the catalog with what they were, and the verdicts of a saved run (SAVED=DIR)
	$(GO) test -count=1 -timeout=20m ./suites/same $(if $(SAVED),-saved=$(abspath $(SAVED)))

conformance: build ## build what is needed, run the catalog, print the verdicts
	$(BIN)/skewrig run --report-dir $(REPORT_DIR) $(RUN_FLAGS)

watchdog: build ## dependency-watchdog: both releases on real API servers, and on the models
	$(BIN)/skewrig run 'dwd/**' --report-dir $(REPORT_DIR)-watchdog $(RUN_FLAGS)
	$(BIN)/skewrig simulate 'dwd/**' --report $(REPORT_DIR)-watchdog

podsapi: build ## the kubelet's Pods API (KEP-4188): each release that has it and the reference, in 6 minutes
	$(BIN)/skewrig run 'kep-4188/**' --report-dir $(REPORT_DIR)-podsapi $(RUN_FLAGS)

installed: ## go install from a proxy of files, the GitHub Action, and a cell in the image, on real components
	$(GO) test -count=1 -timeout=60m -run='TestGoInstall|TestTheAction|TestACellRunsInTheImage' ./cmd/skewrig ./cmd/image

specs: ## what docs/from-go.md shows, and the suites of specs, but for the cells of the catalog
	$(GO) test -count=1 -timeout=30m ./skewtest ./docs/examples/...
	rm -f $(SPECS_REPORT)
	$(GINKGO) --label-filter='!catalog' --json-report=$(SPECS_REPORT) ./suites/conformance ./suites/gates ./suites/mutants; \
		outcome=$$?; $(GO) run ./suites/internal/summary $(SPECS_REPORT) && exit $$outcome

suites: specs kills branch existing ## and the cells of the catalog as specs, each on a control plane of its own
	$(GINKGO) --label-filter=catalog ./suites/conformance

upstream: build ## upstream's own specs of probes, on the newest kubelet and on the one before (20 minutes)
	$(BIN)/skewrig upstream --focus Probing --report-dir $(REPORT_DIR)-upstream
	$(BIN)/skewrig upstream --focus Probing --kubelet previous --report-dir $(REPORT_DIR)-upstream-previous

branch: ## run a checkout of a release in its place, changed as an author would (-of=RELEASE in BRANCH_FLAGS; 3 minutes)
	$(GO) test -count=1 -timeout=60m -v ./suites/branch $(BRANCH_FLAGS)

existing: ## cells on a rig, used as an existing cluster; with root and containerd, also with a mock image
	$(GO) test -count=1 -timeout=20m -v ./suites/existing

sweep: ## sweep a gate of the newest release, and of API servers that are broken in one place (15 minutes)
	$(GO) test -count=1 -timeout=60m -v ./suites/sweep

rehearse: ## rehearse upgrades of small shops: silent where nothing changes, and red where something does (10 minutes)
	$(GO) test -count=1 -timeout=60m -v ./suites/rehearse

corpus: ## rehearse 40 public charts (CHARTS=a directory with NAME.yaml of suites/rehearse/corpus.tsv), and print a table (an hour)
	$(GO) run ./suites/internal/corpus -inputs '$(CHARTS)'

kills: ## kill runs (KILLS=10) with SIGKILL at random moments: nothing may be left of them but their reports
	$(GO) test -count=1 -timeout=30m -v -run=TestAKilledRun ./cmd/skewrig -kills=$(KILLS) $(KILL_FLAGS)

contained: build ## run scenarios that try to get out of a rig, and look at each file that changed (root; 2 minutes)
	$(GO) test -count=1 -timeout=20m -v ./suites/contained -skewrig=$(abspath $(BIN))/skewrig

soak: ## run the default cells, or others (SOAK_FLAGS='-patterns=**'), 2,000 times while the other core compiles (hours)
	$(GO) test -count=1 -timeout=24h -v -run=TestSoak ./suites/soak $(SOAK_FLAGS)

isolation: ## run the whole catalog three times each alone, shared, and shared in random order, and compare (hours; with -report=DIR in SOAK_FLAGS it continues where it stopped)
	$(GO) test -count=1 -timeout=24h -v -run=TestIsolation ./suites/soak -patterns='**' $(SOAK_FLAGS)

mutants: ## change the kubelet's prober in every place, one at a time, and count what the catalog finds (hours; continues where it stopped)
	$(GO) run github.com/onsi/ginkgo/v2/ginkgo -v --timeout=24h --focus='scores the catalog' ./suites/mutants -- -score=$(abspath $(REPORT_DIR))-mutants $(SCORE_FLAGS)

fuzz: ## make up what readers of files read, with each fuzzer for FUZZTIME (1h): no input may cost more than seconds (hours)
	@grep -roE --include='*_test.go' '^func Fuzz[A-Za-z]+' . | sed 's|/[^/]*:func | |' | sort | while read -r package fuzzer; do \
		echo "$$package $$fuzzer"; \
		$(GO) test -run='^$$' -fuzz="^$$fuzzer\$$" -fuzztime=$(FUZZTIME) $(FUZZ_FLAGS) "$$package" </dev/null || exit 1; \
	done

page: reports/page/node_modules ## click through the page of a run in a real browser (needs chromium, node and npm)
	SKEWRIG_BROWSER_TESTS=$(or $(SKEWRIG_BROWSER_TESTS),wanted) $(GO) test -count=1 -timeout=20m ./reports/page

results: build ## findings, track record and page of the run in REPORT_DIR, and the mutation score, in bin/results
	@mkdir -p $(RESULTS)
	$(BIN)/skewrig report findings -f $(REPORT_DIR) -o markdown > $(RESULTS)/findings.md
	$(BIN)/skewrig report show $(REPORT_DIR) -o track-record > $(RESULTS)/track-record.md
	$(GO) test -count=1 ./suites/mutants/mutation -run=TestPage -page=$(abspath $(RESULTS))/mutation-score.md
	cp $(REPORT_DIR)/index.html $(REPORT_DIR)/report.json $(REPORT_DIR)/junit.xml $(RESULTS)/

pictures: build ## make the sample and the pictures of the docs, the page of REPORT_DIR among them (needs chromium and jq)
	rm -rf docs/examples/report
	$(BIN)/skewrig run docs/examples/payments/older-kubelet.yaml docs/examples/payments/upgrade.yaml --isolate --report-dir docs/examples/report || [ $$? -eq 1 ] # one cell is red
	find docs/examples/report '(' -name logs -o -name junit.xml -o -name index.html ')' -prune -exec rm -r {} +
	jq $(OWN_CELLS) docs/examples/report/report.json > $(BIN)/report.json && mv $(BIN)/report.json docs/examples/report/report.json
	$(BIN)/skewrig run 'regressions/kubernetes-141961/**' --report-dir known-bug || [ $$? -eq 1 ]
	jq $(OWN_CELLS) known-bug/report.json > cmd/skewrig/testdata/known-bug/report.json && rm -r known-bug
	$(CHROMIUM) --headless --no-sandbox --log-level=3 --hide-scrollbars --window-size=1280,860 --virtual-time-budget=10000 --screenshot=docs/pictures/page.png file://$(abspath $(REPORT_DIR))/index.html
	$(GO) test ./cmd/skewrig -run TestDocsPrintWhatIsPrinted -update

clocks: ## show that a kubelet can have a clock of its own (compiles one with another Go runtime first: minutes)
	$(GO) test -count=1 -timeout=30m ./suites/clocks

containers:
	@command -v containerd >/dev/null && command -v runc >/dev/null && ls /opt/cni/bin/ptp /usr/lib/cni/ptp /usr/libexec/cni/ptp 2>/dev/null | grep -q . || { apt-get update -qq && apt-get install -y -qq --no-install-recommends containerd runc containernetworking-plugins; }

real: build containers ## nodes with containerd, and cells on real containers, compared with simulated ones (root; installs containerd, runc and CNI plugins with apt-get)
	SKEWRIG_REAL_TESTS=$(or $(SKEWRIG_REAL_TESTS),wanted) $(GO) test -count=1 -timeout=10m ./fakeservers/container/...
	$(GO) test -count=1 -timeout=15m ./harness/containerd
	$(GO) test -count=1 -timeout=10m -run=WithContainers ./cmd/skewrig
	$(BIN)/skewrig run --runtime containerd $(REAL_CELLS) --report-dir $(REPORT_DIR)-real $(RUN_FLAGS)
	$(BIN)/skewrig run --runtime both $(BOTH_CELLS) --report-dir $(REPORT_DIR)-both $(RUN_FLAGS)

kind: build ## cells on kind clusters, with node images made here (root; installs docker.io and debootstrap with apt-get; 8 minutes)
	@command -v dockerd >/dev/null && command -v debootstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends docker.io debootstrap; }
	$(GO) test -count=1 -timeout=40m -v ./suites/kind -skewrig=$(abspath $(BIN))/skewrig -cells='$(KIND_CELLS)' -releases='$(KIND_RELEASES)' -report-dir=$(abspath $(REPORT_DIR))-kind

bench: build ## measure what docs/results.md shows
	SKEWRIG_BROWSER_TESTS=wanted $(GO) test -run='^$$' -bench=. -benchtime=3x -timeout=60m ./harness/... ./fakeservers/... ./scenarios/... ./reports/... ./suites/...
	$(GO) test -C suites/bench/envtest -run='^$$' -bench=. -benchtime=1x -timeout=30m

lint: $(TOOLS)/golangci-lint ## static checks, and the words of comments, messages and pages
	$(TOOLS)/golangci-lint run
	$(GO) test -count=1 ./harness/internal/wording

fmt: $(TOOLS)/golangci-lint ## format the code
	$(TOOLS)/golangci-lint fmt

generate: ## make generated files anew
	$(GO) generate ./...

newest: ## make VERSION=v1.90.1 the newest release (and PREVIOUS=v1.89.3 the one before), and say what changed
	$(GO) run ./cmd/newest $(if $(PREVIOUS),--previous $(PREVIOUS)) $(VERSION)
	$(GO) test ./cmd/skewrig -run TestDocsPrintWhatIsPrinted -update

verify: ## check that modules, generated files and formatting are current, and shell scripts (with shellcheck)
	$(GO) mod verify
	.ci/modules
	.ci/scripts
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo 'not formatted: run make fmt'; exit 1; }
	$(GO) vet ./...
	$(GO) test -run=TestTheSchemasAreCurrent ./docs/...

clean: ## remove what the other targets made (not the component cache)
	rm -rf $(BIN) $(REPORT_DIR) $(REPORT_DIR)-mutants

reports/page/node_modules: reports/page/package-lock.json
	cd reports/page && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

$(TOOLS)/golangci-lint: Makefile
	GOBIN=$(abspath $(TOOLS)) $(GO) install $(GOLANGCI_LINT)
	@touch $@
