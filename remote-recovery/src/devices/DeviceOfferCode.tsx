import type { DeviceOffer, OpenerHandle, Vault } from "@relicario/shared/contract";
import { NumberedWords, useVaultOperation } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Loading,
  media,
  Muted,
  Notice,
  s,
  SectionTitle,
  SmallText,
  space,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { focusOnMount } from "../flow/focus-on-mount.ts";
import { QrCode } from "../qr/QrCode.tsx";
import { useSecondsLeft } from "./useSecondsLeft.ts";

interface DeviceOfferCodeProps {
  readonly vault: Vault;
  readonly offer: DeviceOffer;
  readonly passkey: OpenerHandle;
  /** Creates another code for the same passkey. */
  readonly onRenew: () => void;
  readonly onCancel: () => void;
}

/**
 * `join` waits for the other device's response. `unlock` tries the passkey after that response was
 * missed.
 */
type Attempt = "join" | "unlock";

/**
 * Shows this device's code as words and as a QR code until the other device responds or the code
 * expires.
 */
export function DeviceOfferCode({ vault, offer, passkey, onRenew, onCancel }: DeviceOfferCodeProps) {
  const { t } = useTranslation("devices");
  const [attempt, setAttempt] = useState<Attempt>("join");
  const operation = useVaultOperation();
  const secondsLeft = useSecondsLeft(offer.expiresAt);
  const runAttempt = (next: Attempt) => {
    operation.start({
      run: (options) =>
        next === "join" ? vault.deviceLinks.join(offer, passkey, options) : vault.unlock(passkey, options),
    });
  };
  const joinOnMount = useEffectEvent(() => {
    runAttempt("join");
  });
  useEffect(() => {
    joinOnMount();
  }, []);
  const startAttempt = (next: Attempt) => {
    setAttempt(next);
    runAttempt(next);
  };
  const failure = operation.error;
  const renewActions = (
    <SpacedRow>
      <Button onClick={onRenew}>{t("offer.again_action")}</Button>
      <Button tone="quiet" onClick={onCancel}>
        {t("offer.cancel_action")}
      </Button>
    </SpacedRow>
  );
  if (failure === null && attempt === "unlock") return <Loading label={t("offer.unlocking_status")} />;
  if (failure !== null) {
    if (failure.code !== "device_link_expired") {
      return (
        <Stack $gap={4}>
          <ErrorNotice
            error={failure}
            onRetry={() => {
              startAttempt(attempt);
            }}
          />
          {renewActions}
        </Stack>
      );
    }
    return (
      <Card aria-labelledby="offer-over">
        <Stack $gap={4}>
          <SectionTitle ref={focusOnMount} tabIndex={-1} id="offer-over">
            {t("offer.over_title")}
          </SectionTitle>
          <Notice tone="warn" role="alert">
            {t("offer.over_body")}
          </Notice>
          {renewActions}
          <Muted>{t("offer.done_body")}</Muted>
          <SpacedRow>
            <Button
              tone="quiet"
              onClick={() => {
                startAttempt("unlock");
              }}
            >
              {t("offer.done_action")}
            </Button>
          </SpacedRow>
        </Stack>
      </Card>
    );
  }
  return (
    <Card aria-labelledby="offer-code">
      <Stack $gap={4}>
        <SectionTitle ref={focusOnMount} tabIndex={-1} id="offer-code">
          {t("offer.title")}
        </SectionTitle>
        <Steps>
          <li>{t("offer.first_body")}</li>
          <li>{t("offer.second_body")}</li>
          <li>{t("offer.third_body")}</li>
        </Steps>
        <CodeLayout>
          <QrFrame>
            <QrCode text={offer.words.join(" ")} label={t("offer.qr_aria")} />
          </QrFrame>
          <NumberedWords words={offer.words} label={t("offer.words_aria")} />
        </CodeLayout>
        <Notice tone="warn">{t("offer.private_body")}</Notice>
        <Muted role="status">{t("offer.waiting_status")}</Muted>
        <SmallText role="timer" aria-live="off">
          {t("offer.left_body", {
            minutes: Math.floor(secondsLeft / 60),
            seconds: String(secondsLeft % 60).padStart(2, "0"),
          })}
        </SmallText>
        <SpacedRow>
          <Button tone="quiet" onClick={onCancel}>
            {t("offer.cancel_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

const Steps = styled.ol`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  padding-left: ${space(6)};
  list-style: decimal;
`;

const CodeLayout = styled.div`
  display: grid;
  grid-template-columns: 240px minmax(0, 1fr);
  gap: ${space(5)};
  align-items: start;
  ${media.mobile} {
    grid-template-columns: minmax(0, 1fr);
    justify-items: stretch;
  }
`;

const QrFrame = styled.div`
  width: 100%;
  max-width: 240px;
  margin: 0 auto;
  border-radius: ${s("radius")};
  overflow: hidden;
  & svg {
    display: block;
    width: 100%;
    height: auto;
  }
`;
