{{- define "relicario.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "relicario.labels" -}}
app.kubernetes.io/name: relicario
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "relicario.metadata" -}}
name: {{ include "relicario.name" .root }}-{{ .component }}
labels:
  {{- include "relicario.labels" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "relicario.image" -}}
{{ .repository }}:{{ .tag | default .root.Chart.AppVersion }}
{{- end }}

{{/* What the profile "restricted" of pod security asks for, with files that cannot be written. */}}
{{- define "relicario.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "relicario.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "relicario.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "relicario.labels" . | nindent 8 }}
{{- end }}

{{/* Probes of a path that answers within a second. */}}
{{- define "relicario.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 3
readinessProbe:
  httpGet: { path: {{ .readyPath }}, port: http }
  periodSeconds: 3
  timeoutSeconds: 3
{{- end }}

{{/* Until load balancers have noticed; the service does so by itself. */}}
{{- define "relicario.waitBeforeStop" -}}
lifecycle:
  preStop:
    exec: { command: [sleep, "10"] }
{{- end }}

{{- define "relicario.service" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "relicario.metadata" . | nindent 2 }}
spec:
  selector:
    {{- include "relicario.labels" . | nindent 4 }}
  ports:
    - { name: http, port: 8080, targetPort: http }
{{- end }}

{{- define "relicario.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "relicario.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "relicario.labels" . | nindent 6 }}
{{- end }}

{{- define "relicario.autoscaler" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "relicario.metadata" . | nindent 2 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "relicario.name" .root }}-{{ .component }}
  minReplicas: {{ .settings.replicas }}
  maxReplicas: {{ max .settings.replicas .settings.autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ .settings.autoscaling.cpuPercent }} }
{{- end }}

{{/* Signed documents in one folder, the registry of releases in another. */}}
{{- define "relicario.portalVolume" -}}
name: portal
persistentVolumeClaim:
  claimName: {{ .Values.volume.existingClaim | default (printf "%s-portal" (include "relicario.name" .)) }}
{{- end }}

{{/* Settings of each process that names the portal. */}}
{{- define "relicario.portalSettings" -}}
PUBLIC_ORIGIN: {{ .Values.portal.origin | quote }}
API_BASE_URL: {{ printf "%s/api" .Values.portal.origin | quote }}
IDP_AUTHORITY: {{ .Values.identity.authority | quote }}
{{- end }}

{{- define "relicario.env" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "relicario.metricsToken" -}}
{{- if .Values.secrets.metrics }}
- name: METRICS_TOKEN
  valueFrom: { secretKeyRef: { name: {{ .Values.secrets.metrics }}, key: METRICS_TOKEN } }
{{- end }}
{{- end }}
