{{- define "odyssey.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "odyssey.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: gateway
{{- end }}

{{/* Selects the replicas of a pool, given the whole and the pool's name. */}}
{{- define "odyssey.poolSelector" -}}
app.kubernetes.io/name: {{ (index . 0).Chart.Name }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* The variable with the key of a pool. */}}
{{- define "odyssey.poolKey" -}}
ODYSSEY_POOL_{{ . | upper | replace "-" "_" }}_KEY
{{- end }}

{{/* The config file: that of the values, and a pool for each of vLLM. */}}
{{- define "odyssey.config" -}}
{{- $pools := dict }}
{{- range $pool, $settings := .Values.vllm }}
{{- $name := printf "%s-%s" (include "odyssey.name" $) $pool }}
{{- $replicas := list }}
{{- range $index := until (int ($settings.replicas | default 1)) }}
{{- $replica := dict "kind" "vllm" "url" (printf "http://%s-%d.%s:8000" $name $index $name) }}
{{- if $settings.keySecret }}{{ $_ := set $replica "key" (printf "env:%s" (include "odyssey.poolKey" $pool)) }}{{ end }}
{{- $replicas = append $replicas $replica }}
{{- end }}
{{- $tokenizer := printf "/pools/%s%s" $pool (ternary (printf "/%s" $settings.path) "" (not (empty $settings.path))) }}
{{- $_ := set $pools $pool (merge (dict "tokenizer" $tokenizer "replicas" $replicas) ($settings.pool | default dict)) }}
{{- end }}
{{- $config := deepCopy .Values.config }}
{{- if $pools }}{{ $_ := set $config "pools" (merge $pools (.Values.config.pools | default dict)) }}{{ end }}
{{- toPrettyJson $config }}
{{- end }}

{{- define "odyssey.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "odyssey.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* What every pod of the chart is held to. */}}
{{- define "odyssey.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "odyssey.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "odyssey.database" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.secrets.database }}
      key: url
{{- end }}
