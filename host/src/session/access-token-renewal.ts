/** Times of the renewal (specification, section 9). */
const renewalTimes = {
  /** Lead: how long before its expiry a token is renewed. */
  leadMs: 60_000,
  /**
   * Upper limit of the lead, as a fraction of the token's life. It shortens the lead of tokens that
   * live less than five minutes; without it, tokens of a minute or less would be renewed
   * continuously.
   */
  maxLeadFraction: 0.2,
  /** Shortest delay between getting a token and its renewal. */
  minimumDelayMs: 1_000,
  /** Pause after a time-out or while the provider is unreachable. */
  retryMs: 5_000,
  /**
   * Interval at which the clock is compared with the due time. A single timer would be late by the
   * time for which the machine slept.
   */
  checkMs: 5_000,
} as const;

export interface AccessTokenRenewalDeps {
  /**
   * Makes one attempt. After success, the caller passes the new token to {@link
   * AccessTokenRenewal.schedule}.
   */
  readonly renew: () => Promise<unknown>;
  /** Whether the frame timed out. The attempt is then repeated, and `onError` not called. */
  readonly isTimeout: (error: unknown) => boolean;
  /** Whether a retry may help. */
  readonly isTransient: (error: unknown) => boolean;
  /**
   * Called after any failure except a time-out. Takes the place of oidc-client-ts's
   * `silentRenewError` event.
   */
  readonly onError: (error: unknown) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface AccessTokenRenewal {
  /**
   * Schedules the renewal of this access token, and cancels that of the previous token.
   * `expires_in`: seconds left. The total life of a token restored after a reload is unknown, so
   * its lead is not limited.
   */
  readonly schedule: (token: { readonly expires_in?: number | undefined }, source: "new" | "restored") => void;
  readonly stop: () => void;
}

/**
 * Renews the provider's access token in a hidden frame while the page is open. token-exchange.ts
 * renews the service's session token.
 */
export function createAccessTokenRenewal({
  renew,
  isTimeout,
  isTransient,
  onError,
  now,
}: AccessTokenRenewalDeps): AccessTokenRenewal {
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Incremented by `schedule` and `stop`, to ignore attempts that began earlier. */
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

  return Object.freeze<AccessTokenRenewal>({
    schedule: ({ expires_in: seconds }, source) => {
      stop();
      if (seconds === undefined) return; // expiry unknown: the token exchange fails once the token has expired
      const { maxLeadFraction, minimumDelayMs } = renewalTimes;
      const remainingMs = seconds * 1000;
      const leadMs =
        source === "new" ? Math.min(renewalTimes.leadMs, remainingMs * maxLeadFraction) : renewalTimes.leadMs;
      scheduleAt(now() + Math.max(remainingMs - leadMs, minimumDelayMs), generation);
    },
    stop,
  });
}
