import type { CallOptions, DeviceOffer, ShownImage, Vault } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
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

import { takeFocus } from "../flow/take-focus.ts";
import { WordList } from "../openers/WordList.tsx";
import { QrCode } from "../qr/QrCode.tsx";
import { useTimeLeft } from "./useTimeLeft.ts";

interface ShowOfferProps {
  readonly vault: Vault;
  readonly offer: DeviceOffer;
  readonly passkey: ShownImage;
  /** Another code for the same passkey. */
  readonly onAgain: () => void;
  readonly onCancel: () => void;
}

/**
 * What goes on with the passkey: waiting for the answer, or trying it where the answer did not
 * come.
 */
interface Attempt {
  readonly act: "join" | "unlock";
}

/**
 * The code of this device, as words and as a QR code, until the other device has answered or its
 * time is over.
 */
export function ShowOffer({ vault, offer, passkey, onAgain, onCancel }: ShowOfferProps) {
  const { t } = useTranslation("devices");
  const [attempt, setAttempt] = useState<Attempt>({ act: "join" });
  const [failure, setFailure] = useState<PortalError | null>(null);
  const left = useTimeLeft(offer.expiresAt);
  const run = useEffectEvent(({ act }: Attempt, options: CallOptions) =>
    act === "join" ? vault.deviceLinks.join(offer, passkey, options) : vault.unlock(passkey, options),
  );
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    run(attempt, { signal }).catch((error: unknown) => {
      if (!signal.aborted) setFailure(toPortalError(error));
    });
    return () => {
      controller.abort();
    };
  }, [attempt]);
  const begin = (act: Attempt["act"]) => {
    setFailure(null);
    setAttempt({ act });
  };
  const again = (
    <SpacedRow>
      <Button onClick={onAgain}>{t("offer.again_action")}</Button>
      <Button tone="quiet" onClick={onCancel}>
        {t("offer.cancel_action")}
      </Button>
    </SpacedRow>
  );
  if (failure === null && attempt.act === "unlock") return <Loading label={t("offer.unlocking_status")} />;
  if (failure !== null) {
    if (failure.code !== "device_link_expired") {
      return (
        <Stack $gap={4}>
          <ErrorNotice
            error={failure}
            onRetry={() => {
              begin(attempt.act);
            }}
          />
          {again}
        </Stack>
      );
    }
    return (
      <Card aria-labelledby="offer-over">
        <Stack $gap={4}>
          <SectionTitle ref={takeFocus} tabIndex={-1} id="offer-over">
            {t("offer.over_title")}
          </SectionTitle>
          <Notice tone="warn" role="alert">
            {t("offer.over_body")}
          </Notice>
          {again}
          <Muted>{t("offer.done_body")}</Muted>
          <SpacedRow>
            <Button
              tone="quiet"
              onClick={() => {
                begin("unlock");
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
        <SectionTitle ref={takeFocus} tabIndex={-1} id="offer-code">
          {t("offer.title")}
        </SectionTitle>
        <Steps>
          <li>{t("offer.first_body")}</li>
          <li>{t("offer.second_body")}</li>
          <li>{t("offer.third_body")}</li>
        </Steps>
        <Code>
          <Paper>
            <QrCode text={offer.words.join(" ")} label={t("offer.qr_aria")} />
          </Paper>
          <WordList words={offer.words} label={t("offer.words_aria")} />
        </Code>
        <Notice tone="warn">{t("offer.private_body")}</Notice>
        <Muted role="status">{t("offer.waiting_status")}</Muted>
        <SmallText role="timer" aria-live="off">
          {t("offer.left_body", { minutes: Math.floor(left / 60), seconds: String(left % 60).padStart(2, "0") })}
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

const Code = styled.div`
  display: grid;
  grid-template-columns: 240px minmax(0, 1fr);
  gap: ${space(5)};
  align-items: start;
  ${media.mobile} {
    grid-template-columns: minmax(0, 1fr);
    justify-items: stretch;
  }
`;

const Paper = styled.div`
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
