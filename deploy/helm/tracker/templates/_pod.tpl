{{/*
Settings of a process: first the chart's, then `env`, then the settings of its part. Secrets come as files, so none is in the
definition of a pod. Use: include "tracker.env" (list . "writers" (dict "ROLES" "clicks"))
*/}}
{{- define "tracker.env" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $chosen := index . 2 -}}
{{- $v := $root.Values -}}
{{- $own := include "tracker.part" . | fromJson -}}
{{- $env := dict -}}
{{- range include "tracker.secretFiles" . | fromJsonArray -}}
{{- if .variable -}}{{- $_ := set $env .variable (printf "/etc/tracker/%s" .path) -}}{{- end -}}
{{- end -}}
{{- $login := include "tracker.natsLogin" . | fromJson -}}
{{- if and $login.user (ne $part "backup") -}}{{- $_ := set $env "NATS_USER" $login.user -}}{{- end -}}
{{- with $v.servers.nats.monitorUrls -}}{{- $_ := set $env "NATS_MONITOR_URLS" (join "," .) -}}{{- end -}}
{{- $_ := set $env "DURABILITY" $v.durability.mode -}}
{{- $_ := set $env "STRICT_SINGLE_SITE" (ternary "1" "0" $v.durability.singleSite) -}}
{{- $_ := set $env "STRICT_STANDBYS" ($v.durability.standbys | toString) -}}
{{- $_ := set $env "NATS_PREFIX" $v.natsPrefix -}}
{{- $_ := set $env "TRACKING_URL" (required "trackingUrl is required: the public address of the tracking domain" $v.trackingUrl) -}}
{{- $_ := set $env "API_URL" (required "apiUrl is required: the public address of the API" $v.apiUrl) -}}
{{- $_ := set $env "TRUSTED_PROXIES" (join "," $v.trustedProxies) -}}
{{- $_ := set $env "LOG_LEVEL" $v.logLevel -}}
{{- $_ := set $env "DRAIN_SECONDS" ($v.drainSeconds | toString) -}}
{{- $_ := set $env "DRAIN_STORED_SECONDS" ($v.drainStoredSeconds | toString) -}}
{{- with $v.otlp.endpoint -}}{{- $_ := set $env "OTEL_EXPORTER_OTLP_ENDPOINT" . -}}{{- end -}}
{{- if eq $part "api" -}}
{{- with $v.smtp.from -}}{{- $_ := set $env "MAIL_FROM" . -}}{{- end -}}
{{- with $v.oidc.issuer -}}{{- $_ := set $env "OIDC_ISSUER" . -}}{{- end -}}
{{- with $v.oidc.clientId -}}{{- $_ := set $env "OIDC_CLIENT_ID" . -}}{{- end -}}
{{- with $v.oidc.name -}}{{- $_ := set $env "OIDC_NAME" . -}}{{- end -}}
{{- end -}}
{{- $env = mergeOverwrite $env $chosen $v.env ($own.env | default dict) -}}
{{- range $name := keys $env | sortAlpha }}
- name: {{ $name }}
  {{- $value := get $env $name }}
  {{- /* A number of values.yaml is a float, which would be written as 2e+07. */}}
  {{- if kindIs "float64" $value }}{{- if eq (floor $value) $value }}{{- $value = int64 $value }}{{- end }}{{- end }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- if eq $part "writers" }}
# A restarted pod keeps its name, so it takes its lanes back at once.
- name: PROCESSOR_NAME
  valueFrom:
    fieldRef: { fieldPath: metadata.name }
{{- end }}
{{- $nats := $v.servers.nats }}
{{- if and $nats.keys.user (ne $part "backup") }}
- name: NATS_USER
  valueFrom:
    secretKeyRef:
      name: {{ $nats.existingSecret }}
      key: {{ $nats.keys.user }}
{{- end }}
{{- with concat $v.extraEnv ($own.extraEnv | default list) }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* `env`, and what else a container of ours has in common with the others. Use: include "tracker.container" (list . "api" (dict)) */}}
{{- define "tracker.container" -}}
{{- $root := index . 0 -}}
{{- $v := $root.Values -}}
{{- $own := include "tracker.part" . | fromJson -}}
image: {{ include "tracker.image" $root }}
imagePullPolicy: {{ $v.image.pullPolicy }}
env: {{- include "tracker.env" . | trim | nindent 2 }}
{{- with concat $v.extraEnvFrom ($own.extraEnvFrom | default list) }}
envFrom: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext: {{- include "tracker.containerSecurity" $root | nindent 2 }}
{{- end -}}

{{/* The mounts of every container of ours. */}}
{{- define "tracker.mounts" -}}
{{- $v := (index . 0).Values -}}
{{- $own := include "tracker.part" . | fromJson -}}
- { name: secrets, mountPath: /etc/tracker, readOnly: true }
{{- with concat $v.extraVolumeMounts ($own.extraVolumeMounts | default list) }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The volumes of every pod of ours. */}}
{{- define "tracker.volumes" -}}
{{- $v := (index . 0).Values -}}
{{- $own := include "tracker.part" . | fromJson -}}
{{ include "tracker.secretVolume" . }}
{{- with concat $v.extraVolumes ($own.extraVolumes | default list) }}
{{ toYaml . }}
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
{{- $own := include "tracker.part" . | fromJson -}}
{{- $needed := add $v.drainSeconds $v.drainStoredSeconds 10 -}}
{{- if lt (int $v.terminationGracePeriodSeconds) (int $needed) -}}
{{- fail (printf "terminationGracePeriodSeconds is %v: it must be at least drainSeconds + drainStoredSeconds + 10 = %v, or pods are killed while they drain" $v.terminationGracePeriodSeconds $needed) -}}
{{- end -}}
serviceAccountName: {{ include "tracker.serviceAccount" . }}
automountServiceAccountToken: false
# The variables of service links could hide settings: a service `api` would set API_PORT.
enableServiceLinks: false
terminationGracePeriodSeconds: {{ $v.terminationGracePeriodSeconds }}
{{- with $own.priorityClassName | default $v.priorityClassName }}
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
{{- with $own.nodeSelector | default $v.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations | default $v.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.affinity | default $v.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $v.hostAliases }}
hostAliases: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $v.dnsConfig }}
dnsConfig: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if and $own.initContainers (ne $part "journal") }}
initContainers: {{- toYaml $own.initContainers | nindent 2 }}
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

{{/* Settings are in the template itself, so pods restart when one changes. Secrets are not: their checksum is an annotation. */}}
{{- define "tracker.podMetadata" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $v := $root.Values -}}
{{- $own := include "tracker.part" . | fromJson -}}
{{- $annotations := merge (dict) ($own.podAnnotations | default dict) $v.podAnnotations -}}
{{- $isKept := has $part (list "ingress" "writers" "conversions" "delivery" "schedule" "api" "commands") -}}
{{- if and $isKept $v.restartOnSecretChange -}}
{{- with include "tracker.secretsChecksum" . -}}{{- $_ := set $annotations "checksum/secrets" . -}}{{- end -}}
{{- end -}}
{{- if and $isKept $v.restartOn -}}{{- $_ := set $annotations "checksum/restart-on" (sha256sum $v.restartOn) -}}{{- end -}}
labels: {{- include "tracker.labels" . | nindent 2 }}
{{- with merge (dict) ($own.podLabels | default dict) $v.podLabels }}
{{- toYaml . | nindent 2 }}
{{- end }}
{{- with $annotations }}
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
