{{/*
Settings of a process: those of the chart, then `env`, then those of its part. Secrets come as files, so none is in the
definition of a pod. Use: include "tracker.env" (list . (dict "LANES" "clicks") .Values.writers.env)
*/}}
{{- define "tracker.env" -}}
{{- $root := index . 0 -}}
{{- $own := index . 1 -}}
{{- $v := $root.Values -}}
{{- $servers := $v.servers -}}
{{- $env := dict -}}
{{- $_ := set $env "POSTGRES_URL_FILE" "/etc/tracker/postgres/url" -}}
{{- if $servers.postgres.keys.password -}}{{- $_ := set $env "POSTGRES_PASSWORD_FILE" "/etc/tracker/postgres/password" -}}{{- end -}}
{{- $_ := set $env "NATS_URL_FILE" "/etc/tracker/nats/url" -}}
{{- if $servers.nats.keys.creds -}}{{- $_ := set $env "NATS_CREDS_FILE" "/etc/tracker/nats/creds" -}}{{- end -}}
{{- if $servers.nats.keys.password -}}{{- $_ := set $env "NATS_PASSWORD_FILE" "/etc/tracker/nats/password" -}}{{- end -}}
{{- if $servers.nats.keys.sysUrl -}}{{- $_ := set $env "NATS_SYS_URL_FILE" "/etc/tracker/nats/sysUrl" -}}{{- end -}}
{{- if $servers.nats.keys.ca -}}{{- $_ := set $env "NATS_CA_FILE" "/etc/tracker/nats/ca" -}}{{- end -}}
{{- $_ := set $env "CLICKHOUSE_URL_FILE" "/etc/tracker/clickhouse/url" -}}
{{- if $servers.clickhouse.keys.ca -}}{{- $_ := set $env "CLICKHOUSE_CA_FILE" "/etc/tracker/clickhouse/ca" -}}{{- end -}}
{{- $_ := set $env "NATS_PREFIX" $v.natsPrefix -}}
{{- $_ := set $env "TRACKING_URL" (required "trackingUrl is required: the public address of the tracking domain" $v.trackingUrl) -}}
{{- $_ := set $env "API_URL" (required "apiUrl is required: the public address of the API" $v.apiUrl) -}}
{{- $_ := set $env "TRUSTED_PROXIES" (join "," $v.trustedProxies) -}}
{{- $_ := set $env "LOG_LEVEL" $v.logLevel -}}
{{- $_ := set $env "DRAIN_SECONDS" ($v.drainSeconds | toString) -}}
{{- $_ := set $env "DRAIN_STORED_SECONDS" ($v.drainStoredSeconds | toString) -}}
{{- $env = mergeOverwrite $env $own $v.env (index . 2) -}}
{{- range $name := keys $env | sortAlpha }}
- name: {{ $name }}
  {{- $value := get $env $name }}
  {{- /* A number of values.yaml is a float, which would be written as 2e+07. */}}
  {{- if kindIs "float64" $value }}{{- if eq (floor $value) $value }}{{- $value = int64 $value }}{{- end }}{{- end }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- if $servers.nats.keys.user }}
- name: NATS_USER
  valueFrom:
    secretKeyRef:
      name: {{ $servers.nats.existingSecret }}
      key: {{ $servers.nats.keys.user }}
{{- end }}
{{- end -}}

{{/* The secrets of the servers, mounted below /etc/tracker. A rotated secret arrives without a restart. */}}
{{- define "tracker.secretVolumes" -}}
{{- range $name := list "postgres" "nats" "clickhouse" }}
{{- $server := get $.Values.servers $name }}
- name: {{ $name }}
  secret:
    secretName: {{ required (printf "servers.%s.existingSecret is required: the name of the secret with its address" $name) $server.existingSecret }}
    defaultMode: 0440
    items:
    {{- range $file, $key := $server.keys }}
    {{- if and $key (ne $file "user") }}
      - key: {{ $key }}
        path: {{ $file }}
    {{- end }}
    {{- end }}
{{- end }}
{{- end -}}

{{- define "tracker.secretMounts" -}}
{{- range $name := list "postgres" "nats" "clickhouse" }}
- name: {{ $name }}
  mountPath: /etc/tracker/{{ $name }}
  readOnly: true
{{- end }}
{{- end -}}

{{- define "tracker.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* What the pods of every part have in common. Use: include "tracker.pod" (list . "api") */}}
{{- define "tracker.pod" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $v := $root.Values -}}
{{- $needed := add $v.drainSeconds $v.drainStoredSeconds 10 -}}
{{- if lt (int $v.terminationGracePeriodSeconds) (int $needed) -}}
{{- fail (printf "terminationGracePeriodSeconds is %v: it must be at least drainSeconds + drainStoredSeconds + 10 = %v, or pods are killed while they drain" $v.terminationGracePeriodSeconds $needed) -}}
{{- end -}}
serviceAccountName: {{ $v.serviceAccountName }}
automountServiceAccountToken: false
# The variables of service links could hide settings: a service `api` would set API_PORT.
enableServiceLinks: false
terminationGracePeriodSeconds: {{ $v.terminationGracePeriodSeconds }}
{{- with ternary $v.ingressPriorityClass $v.priorityClass (eq $part "ingress") }}
priorityClassName: {{ . }}
{{- end }}
{{- with $v.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with $v.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $v.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "tracker.spread" -}}
{{- $root := index . 0 -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: {{ $root.Values.topologySpread.host }}
    labelSelector:
      matchLabels: {{- include "tracker.selector" . | nindent 8 }}
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: {{ $root.Values.topologySpread.zone }}
    labelSelector:
      matchLabels: {{- include "tracker.selector" . | nindent 8 }}
{{- end -}}

{{- define "tracker.podMetadata" -}}
{{- $root := index . 0 -}}
labels: {{- include "tracker.labels" . | nindent 2 }}
{{- with $root.Values.podLabels }}
{{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The probes ask the operations port. Readiness fails for six seconds before it counts: less than the drain, more than one worker's restart. */}}
{{- define "tracker.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: {{ . }} }
  periodSeconds: 2
  failureThreshold: 30
livenessProbe:
  httpGet: { path: /healthz, port: {{ . }} }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /readyz, port: {{ . }} }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 3
{{- end -}}
