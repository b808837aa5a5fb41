{{/*
The secrets of one part, as a list of { variable, secret, key, path, isReread }. Its pod has each as the file `path` below /etc/tracker, and no other;
`variable` names the file to the process. Use: include "tracker.secretFiles" (list . "api") | fromJsonArray
*/}}
{{- define "tracker.secretFiles" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $v := $root.Values -}}
{{- $own := include "tracker.part" . | fromJson -}}
{{- $isOperator := has $part (list "migrate" "commands" "doctor") -}}
{{- $isRunning := has $part (list "ingress" "writers" "conversions" "delivery" "schedule" "api") -}}
{{- $files := list -}}

{{- $postgres := $v.servers.postgres -}}
{{- $secret := required "servers.postgres.existingSecret is required: the name of the secret with its address" $postgres.existingSecret -}}
{{- $keys := $postgres.keys -}}
{{- $files = append $files (dict "variable" "POSTGRES_URL_FILE" "secret" $secret "key" $keys.url "path" "postgres/url") -}}
{{- if $keys.password -}}
{{- $files = append $files (dict "variable" "POSTGRES_PASSWORD_FILE" "secret" $secret "key" $keys.password "path" "postgres/password" "isReread" true) -}}
{{- end -}}
{{- if $keys.ca -}}
{{- $files = append $files (dict "secret" $secret "key" $keys.ca "path" "postgres/ca") -}}
{{- end -}}
{{- if and $isOperator $keys.directUrl -}}
{{- $files = append $files (dict "variable" "POSTGRES_DIRECT_URL_FILE" "secret" $secret "key" $keys.directUrl "path" "postgres/directUrl") -}}
{{- end -}}

{{- if ne $part "backup" -}}
{{- $nats := $v.servers.nats -}}
{{- $secret = required "servers.nats.existingSecret is required: the name of the secret with its address" $nats.existingSecret -}}
{{- $keys = $nats.keys -}}
{{- $files = append $files (dict "variable" "NATS_URL_FILE" "secret" $secret "key" $keys.url "path" "nats/url") -}}
{{- range $variable, $file := dict "NATS_CREDS_FILE" "creds" "NATS_NKEY_FILE" "nkey" "NATS_CA_FILE" "ca" "NATS_CERT_FILE" "cert" "NATS_KEY_FILE" "key" -}}
{{- with get $keys $file -}}
{{- $files = append $files (dict "variable" $variable "secret" $secret "key" . "path" (printf "nats/%s" $file) "isReread" true) -}}
{{- end -}}
{{- end -}}
{{- $login := include "tracker.natsLogin" . | fromJson -}}
{{- with $login.passwordKey -}}
{{- $files = append $files (dict "variable" "NATS_PASSWORD_FILE" "secret" $secret "key" . "path" "nats/password" "isReread" true) -}}
{{- end -}}
{{- if and (eq $v.durability.mode "strict") $keys.sysUrl -}}
{{- $files = append $files (dict "variable" "NATS_SYS_URL_FILE" "secret" $secret "key" $keys.sysUrl "path" "nats/sysUrl") -}}
{{- end -}}
{{- if and (eq $v.durability.mode "strict") (not $keys.sysUrl) (not $nats.monitorUrls) -}}
{{- fail "durability.mode is strict, so servers.nats.keys.sysUrl or servers.nats.monitorUrls is required: nobody else says whether NATS syncs to disk" -}}
{{- end -}}
{{- end -}}

{{- if not (has $part (list "ingress" "journal" "backup")) -}}
{{- $clickhouse := $v.servers.clickhouse -}}
{{- $secret = required "servers.clickhouse.existingSecret is required: the name of the secret with its addresses" $clickhouse.existingSecret -}}
{{- $keys = $clickhouse.keys -}}
{{- $files = append $files (dict "variable" "CLICKHOUSE_URL_FILE" "secret" $secret "key" (ternary $keys.migrateUrl $keys.writerUrl $isOperator) "path" "clickhouse/url") -}}
{{- if and (eq $part "api") $keys.readerUrl -}}
{{- $files = append $files (dict "variable" "CLICKHOUSE_READER_URL_FILE" "secret" $secret "key" $keys.readerUrl "path" "clickhouse/readerUrl") -}}
{{- end -}}
{{- if $keys.ca -}}
{{- $files = append $files (dict "variable" "CLICKHOUSE_CA_FILE" "secret" $secret "key" $keys.ca "path" "clickhouse/ca") -}}
{{- end -}}
{{- end -}}

{{- if eq $part "api" -}}
{{- $secret = required "console.existingSecret is required: the name of a secret with a text of at least 32 characters, without which nobody has a second factor" $v.console.existingSecret -}}
{{- $files = append $files (dict "variable" "CONSOLE_SECRET_FILE" "secret" $secret "key" $v.console.keys.secret "path" "console/secret") -}}
{{- with $v.smtp.existingSecret -}}
{{- $files = append $files (dict "variable" "SMTP_URL_FILE" "secret" . "key" $v.smtp.keys.url "path" "smtp/url") -}}
{{- end -}}
{{- with $v.oidc.existingSecret -}}
{{- $files = append $files (dict "variable" "OIDC_CLIENT_SECRET_FILE" "secret" . "key" $v.oidc.keys.clientSecret "path" "oidc/clientSecret") -}}
{{- end -}}
{{- end -}}

{{- if has $part (list "api" "commands" "doctor") -}}
{{- $files = append $files (dict "variable" "SECRETS_KEY_FILE" "secret" $v.console.existingSecret "key" $v.console.keys.secretsKey "path" "console/secretsKey" "isReread" true) -}}
{{- end -}}

{{- if and $isRunning $v.otlp.existingSecret -}}
{{- with $v.otlp.keys.endpoint -}}
{{- $files = append $files (dict "variable" "OTEL_EXPORTER_OTLP_ENDPOINT_FILE" "secret" $v.otlp.existingSecret "key" . "path" "otlp/endpoint") -}}
{{- end -}}
{{- with $v.otlp.keys.headers -}}
{{- $files = append $files (dict "variable" "OTEL_EXPORTER_OTLP_HEADERS_FILE" "secret" $v.otlp.existingSecret "key" . "path" "otlp/headers") -}}
{{- end -}}
{{- end -}}

{{- if ne $part "backup" -}}
{{- range $name, $from := merge (dict) ($own.secretEnv | default dict) $v.secretEnv -}}
{{- $files = append $files (dict "variable" (printf "%s_FILE" $name) "secret" $from.secret "key" $from.key "path" (printf "settings/%s" $name)) -}}
{{- end -}}
{{- end -}}
{{- $files | toJson -}}
{{- end -}}

{{/* How a part logs in to NATS: { user, passwordKey } of its role, { passwordKey } with a user whose name is in the secret, or nothing. */}}
{{- define "tracker.natsLogin" -}}
{{- $keys := (index . 0).Values.servers.nats.keys -}}
{{- $roles := dict "ingress" "ingress" "journal" "ingress" "api" "api" "migrate" "operator" "commands" "operator" "doctor" "operator" -}}
{{- $role := get $roles (index . 1) | default "processors" -}}
{{- if or $keys.creds $keys.nkey -}}
{}
{{- else if $keys.user -}}
{{- dict "passwordKey" $keys.password | toJson -}}
{{- else if get $keys $role -}}
{{- dict "user" $role "passwordKey" (get $keys $role) | toJson -}}
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{/* One volume with the secrets of a part. A changed secret arrives in it without a restart. */}}
{{- define "tracker.secretVolume" -}}
{{- $files := include "tracker.secretFiles" . | fromJsonArray -}}
{{- $names := list -}}
{{- range $files -}}{{- $names = append $names .secret -}}{{- end -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
    {{- range $name := $names | uniq }}
      - secret:
          name: {{ $name }}
          items:
          {{- range $files }}
          {{- if eq .secret $name }}
            - { key: {{ .key | quote }}, path: {{ .path }} }
          {{- end }}
          {{- end }}
    {{- end }}
{{- end -}}

{{/* What the secrets contain that a part reads only at its start; empty where the chart is rendered without the cluster. */}}
{{- define "tracker.secretsChecksum" -}}
{{- $root := index . 0 -}}
{{- $content := list -}}
{{- range $file := include "tracker.secretFiles" . | fromJsonArray -}}
{{- if not $file.isReread -}}
{{- with lookup "v1" "Secret" $root.Release.Namespace $file.secret -}}
{{- $content = append $content (printf "%s=%s" $file.path (get (.data | default dict) $file.key)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $content -}}
{{ join "\n" $content | sha256sum }}
{{- end -}}
{{- end -}}
