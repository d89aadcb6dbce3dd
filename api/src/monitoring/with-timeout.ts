/** Probes ask every few seconds and must not wait longer. */
const timeoutMilliseconds = 2_000;

/** @throws Error when the answer takes longer than a probe may wait */
export async function withTimeout<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error("no answer in time"));
    }, timeoutMilliseconds);
  });
  return Promise.race([answer, timeout]).finally(() => {
    clearTimeout(timer);
  });
}
