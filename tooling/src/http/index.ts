export { getClientNetwork, TrustedProxies, type ProxyTrustCheck } from "./address.ts";
export { hasBearerToken } from "./bearer-token.ts";
export { CallLimiter } from "./call-limiter.ts";
export { ConnectionLimiter } from "./connection-limiter.ts";
export { equalsInConstantTime } from "./equals-in-constant-time.ts";
export { ConnectionLimits } from "./limits.ts";
export {
  createLoggerOptions,
  describeError,
  LogLevel,
  logResponses,
  type ErrorDescription,
  type LogStream,
} from "./logging.ts";
export { measureResponses } from "./measure-responses.ts";
export { sendStatus } from "./problem.ts";
export { MetricsToken, registerMetrics } from "./register-metrics.ts";
export { createTraceAdopter } from "./trace-context.ts";
