#!/usr/bin/env bash
# Tries the chart: helm lint and template of every example, schemas of the Kubernetes API, wrong values, and on a real
# kube-apiserver: pod security, server-side dry runs, installation, upgrade, rollback.
#
#   npm run build && deploy/helm/check.sh
#
# Needs Go, and etcd (`apt-get install etcd-server`). The first run builds helm, kubeconform and kube-apiserver from their Go
# modules, each at the version and with the hashes in deploy/checks/kubernetes/go.sum: 10 minutes on two cores.
#   CACHE   where the programs are kept (default ~/.cache/tracker-chart-check)
# There is no kubelet, no controller and no volume: nothing of the chart runs here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly CACHE=${CACHE:-$HOME/.cache/tracker-chart-check}
readonly MODULE=deploy/checks/kubernetes
readonly PROMETHEUS_OPERATOR=github.com/prometheus-operator/prometheus-operator@v0.85.0
readonly GATEWAY_API=sigs.k8s.io/gateway-api@v1.4.0

say() { printf '%s %s\n' "$(date -u +%T)" "$*"; }

refuse() {
  echo "check.sh: $*" >&2
  exit 2
}

type -P go >/dev/null || refuse "go is missing"
type -P etcd >/dev/null || refuse "etcd is missing: apt-get install etcd-server"
[[ -e .build/test/deploy/chart/main.js ]] || refuse "the tests are not compiled: npm run build"
[[ -d deploy/helm/tracker/observe/rules ]] || refuse "deploy/observe is missing"

mkdir -p "$CACHE/bin"
# A program that is built from its module does not know its version, which helm asks for.
version=$(go -C "$MODULE" list -m -f '{{.Version}}' k8s.io/kubernetes)
flags="-s -w -X k8s.io/component-base/version.gitVersion=$version"
flags+=" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=$(cut -d. -f2 <<<"$version")"
for program in github.com/yannh/kubeconform/cmd/kubeconform helm.sh/helm/v3/cmd/helm k8s.io/kubernetes/cmd/kube-apiserver; do
  say "building ${program##*/}"
  go -C "$MODULE" build -trimpath -ldflags="$flags" -o "$CACHE/bin/" "$program"
done

folder_of() { go mod download -json "$1" | node -p 'JSON.parse(fs.readFileSync(0, "utf8")).Dir'; }

swagger="$(go -C "$MODULE" list -m -f '{{.Dir}}' k8s.io/kubernetes)/api/openapi-spec/swagger.json"
node .build/test/deploy/chart/main.js "$CACHE/bin" "$swagger" \
  "$(folder_of "$PROMETHEUS_OPERATOR")/example/prometheus-operator-crd" \
  "$(folder_of "$GATEWAY_API")/config/crd/standard"
