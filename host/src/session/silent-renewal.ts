/** Numbers of the silent renewal (specification, section 9). */
const renewalTimes = {
  /** The access token is renewed so long before it expires. */
  leadMs: 60_000,
  /**
   * But no earlier than for this last share of its life: tokens that live shorter than five minutes
   * would be renewed without a pause.
   */
  leadShare: 0.2,
  /** The shortest time between a new token and its renewal. */
  minimumDelayMs: 1_000,
  /** Pause after a frame that timed out or a provider that did not answer. */
  retryMs: 5_000,
  /**
   * How often the clock is compared with the due time: a single timer would be late by the time
   * that the machine slept.
   */
  checkMs: 5_000,
} as const;

export interface SilentRenewalDeps {
  /** One attempt. When it succeeds, {@link SilentRenewal.watch} is called with the new token. */
  readonly renew: () => Promise<unknown>;
  /** Whether the frame got no answer in time. That is repeated without a call of `onError`. */
  readonly isTimeout: (error: unknown) => boolean;
  /**
   * Whether another attempt may succeed: the provider did not answer, or said that it is in
   * trouble.
   */
  readonly isTransient: (error: unknown) => boolean;
  /** The silent-renew-error event: any failure but a time-out. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface SilentRenewal {
  /**
   * Renews this access token before it expires, and forgets the one before. `expires_in`: seconds
   * that are left. The whole life of a token that was restored after a reload is unknown: the
   * notice is not shortened for it.
   */
  readonly watch: (token: { readonly expires_in?: number | undefined }, origin: "new" | "restored") => void;
  readonly stop: () => void;
}

/** Renews the access token in a hidden frame, again and again, while the page is open. */
export function createSilentRenewal({ renew, isTimeout, isTransient, onError, now }: SilentRenewalDeps): SilentRenewal {
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Grows with every token and ends the attempts that an earlier one began. */
  let generation = 0;

  const scheduleAt = (dueAt: number, ownGeneration: number): void => {
    const check = () => {
      if (now() < dueAt) scheduleAt(dueAt, ownGeneration);
      else void attempt(ownGeneration);
    };
    timer = setTimeout(check, Math.max(0, Math.min(dueAt - now(), renewalTimes.checkMs)));
  };

  const attempt = async (ownGeneration: number): Promise<void> => {
    try {
      await renew();
    } catch (error) {
      if (ownGeneration !== generation) return;
      if (!isTimeout(error)) onError(error);
      if (isTimeout(error) || isTransient(error)) scheduleAt(now() + renewalTimes.retryMs, ownGeneration);
    }
  };

  const stop = (): void => {
    generation += 1;
    clearTimeout(timer);
  };

  return Object.freeze<SilentRenewal>({
    watch: ({ expires_in: seconds }, origin) => {
      stop();
      if (seconds === undefined) return; // the provider does not say: the exchange will answer that the token expired
      const { leadMs, leadShare, minimumDelayMs } = renewalTimes;
      const remainingMs = seconds * 1000;
      const leadTime = origin === "new" ? Math.min(leadMs, remainingMs * leadShare) : leadMs;
      scheduleAt(now() + Math.max(remainingMs - leadTime, minimumDelayMs), generation);
    },
    stop,
  });
}
