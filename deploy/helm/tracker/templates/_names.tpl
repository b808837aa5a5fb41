{{- define "tracker.name" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels of one part. Use: include "tracker.labels" (list . "ingress") */}}
{{- define "tracker.labels" -}}
{{- $root := index . 0 -}}
{{ include "tracker.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Annotations of an object. Use: include "tracker.annotations" (list . (dict "more" "annotations")) | nindent 2 */}}
{{- define "tracker.annotations" -}}
{{- $root := index . 0 -}}
{{- with merge (dict) (index . 1) $root.Values.commonAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What finds the pods of one part, and never changes. */}}
{{- define "tracker.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: tracker
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "tracker.image" -}}
{{- $repository := required "image.repository is required: the registry and name of the image built from deploy/image/Containerfile" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The migration runs before the release exists, so its account is a hook as well. Use: include "tracker.serviceAccount" (list . "migrate") */}}
{{- define "tracker.serviceAccount" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $account := $root.Values.serviceAccount -}}
{{- $backup := $root.Values.backup.serviceAccount -}}
{{- if and (has $part (list "backup" "drill")) (or $account.create $backup.name) -}}
{{ $backup.name | default (printf "%s-backup" (include "tracker.name" $root)) }}
{{- else if not $account.create -}}
{{ $account.name | default "default" }}
{{- else if eq $part "migrate" -}}
{{ include "tracker.name" $root }}-migrate
{{- else -}}
{{ $account.name | default (include "tracker.name" $root) }}
{{- end -}}
{{- end -}}

{{/* The values of one part. A job for journals is placed as the ingress pod was whose volume it has. */}}
{{- define "tracker.part" -}}
{{- $values := (index . 0).Values -}}
{{- $names := dict "journal" "ingress" "drill" "backup" "doctor" "commands" -}}
{{- $part := index . 1 -}}
{{- get $values (get $names $part | default $part) | toJson -}}
{{- end -}}
