{{- define "tracker.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels of one part. Use: include "tracker.labels" (list . "ingress") */}}
{{- define "tracker.labels" -}}
{{- $root := index . 0 -}}
{{ include "tracker.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
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
