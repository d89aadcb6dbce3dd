import { PortalError, toPortalError, type ErrorCode } from "@relicario/shared/errors";

/** The end of a worker: a call to one that is gone would never settle. */
export interface Gone {
  /** Rejects when the worker was ended or failed. */
  readonly gone: Promise<never>;
  readonly say: (code: ErrorCode) => void;
}

export function createGone(): Gone {
  let refuse: (error: PortalError) => void = () => undefined;
  const gone = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  gone.catch(() => undefined); // it is raced by each call; without a call nobody needs it
  return {
    gone,
    say: (code) => {
      refuse(new PortalError(code));
    },
  };
}

export async function orGone<T>(gone: Promise<never>, call: Promise<T>): Promise<T> {
  try {
    return await Promise.race([call, gone]);
  } catch (error) {
    throw toPortalError(error);
  }
}
