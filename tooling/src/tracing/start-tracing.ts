/**
 * Records the requests of this process's servers, if OTEL_EXPORTER_OTLP_ENDPOINT is set; otherwise
 * loads nothing. Call it before a server is built.
 */
export async function startTracing(): Promise<void> {
  if (!isTracing()) return;
  const { exportTraces } = await import("./export-traces.ts");
  exportTraces();
}

export function isTracing(): boolean {
  return (process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? "") !== "";
}
