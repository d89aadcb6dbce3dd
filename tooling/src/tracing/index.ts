export { startTracing } from "./start-tracing.ts";
export { traceStatements } from "./trace-statements.ts";
