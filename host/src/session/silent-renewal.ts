/** Numbers of the silent renewal (specification, section 9). */
export const renewalNumbers = {
  /** So long before the access token expires it is renewed. */
  noticeMs: 60_000,
  /** Where a token lives for less than five minutes: this share of its life, or renewals would follow each other without a pause. */
  noticeShare: 0.2,
  /** Never sooner than this after a token came. */
  leastMs: 1_000,
  /** Pause after a frame that timed out, or a provider that could not be reached. */
  retryMs: 5_000,
  /** The clock is looked at so often: a timer alone sleeps with the machine. */
  lookMs: 5_000,
} as const;

export interface SilentRenewalParts {
  /** One attempt. Its success is told by {@link SilentRenewal.watch}. */
  readonly renew: () => Promise<unknown>;
  /** The frame got no answer in time: nothing is said, it is tried again. */
  readonly isTimeout: (error: unknown) => boolean;
  /** Another attempt may help: the provider was out of reach, or said that it has trouble. */
  readonly mayPass: (error: unknown) => boolean;
  /** The silent-renew-error event: any failure but a time-out. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface SilentRenewal {
  /**
   * There is an access token: it is renewed before it expires. `expires_in`: seconds that are left. Of one that was kept
   * over a reload nobody knows how long it lives in all: then the notice is not shortened.
   */
  readonly watch: (token: { readonly expires_in?: number | undefined }, origin: "new" | "kept") => void;
  readonly stop: () => void;
}

/** Renews the access token without the person, again and again, for as long as the page is open. */
export function createSilentRenewal({ renew, isTimeout, mayPass, onError, now }: SilentRenewalParts): SilentRenewal {
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Grows with every token, so that what a former one began ends. */
  let round = 0;

  const at = (due: number, mine: number): void => {
    const look = () => {
      if (now() < due) at(due, mine);
      else void attempt(mine);
    };
    timer = setTimeout(look, Math.max(0, Math.min(due - now(), renewalNumbers.lookMs)));
  };

  const attempt = async (mine: number): Promise<void> => {
    try {
      await renew();
    } catch (error) {
      if (mine !== round) return;
      if (!isTimeout(error)) onError(error);
      if (isTimeout(error) || mayPass(error)) at(now() + renewalNumbers.retryMs, mine);
    }
  };

  const stop = (): void => {
    round += 1;
    clearTimeout(timer);
  };

  return Object.freeze<SilentRenewal>({
    watch: ({ expires_in: seconds }, origin) => {
      stop();
      if (seconds === undefined) return; // the provider does not say: the exchange finds out
      const { noticeMs, noticeShare, leastMs } = renewalNumbers;
      const left = seconds * 1000;
      const notice = origin === "new" ? Math.min(noticeMs, left * noticeShare) : noticeMs;
      at(now() + Math.max(left - notice, leastMs), round);
    },
    stop,
  });
}
