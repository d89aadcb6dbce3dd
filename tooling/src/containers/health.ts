export {}; // a module, for await

/** The image's health check: exits with 0 when the process of this container answers. */
const { API_PORT, GATEWAY_PORT, IDENTITY_PORT, REMOTE_PORT } = process.env;
const port = API_PORT ?? GATEWAY_PORT ?? IDENTITY_PORT ?? REMOTE_PORT;
const isHealthy = await fetch(`http://127.0.0.1:${port ?? ""}/healthz`, { signal: AbortSignal.timeout(2_500) }).then(
  ({ ok }) => ok,
  () => false,
);
process.exitCode = isHealthy ? 0 : 1;
