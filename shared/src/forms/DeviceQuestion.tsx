import { Laptop, Users } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { usePortal, type DeviceKind, type Vault } from "../contract/index.ts";
import { Button } from "../ui/Button.tsx";
import { Card } from "../ui/Card.tsx";
import { Muted, SectionTitle, SmallText, Stack } from "../ui/layout.tsx";
import { ErrorNotice } from "../ui/notices.tsx";
import { media, s, space } from "../ui/tokens.ts";

export interface DeviceQuestionProps {
  readonly vault: Vault;
}

type AnswerState =
  | { readonly status: "asking" }
  | { readonly status: "saving"; readonly kind: DeviceKind }
  | { readonly status: "failed"; readonly error: unknown };

/**
 * Asks whether this is the person's own device or a shared computer. Shown once after the first
 * unlock, while the vault's `device` is null.
 */
export function DeviceQuestion({ vault }: DeviceQuestionProps) {
  const { t } = useTranslation("common");
  const { notify } = usePortal();
  const [answerState, setAnswerState] = useState<AnswerState>({ status: "asking" });
  const handleAnswer = (kind: DeviceKind) => {
    setAnswerState({ status: "saving", kind });
    vault.setDeviceKind(kind).then(
      ({ keysSaved }) => {
        if (kind === "own") void notifyStorageLimits(keysSaved);
      },
      (error: unknown) => {
        setAnswerState({ status: "failed", error });
      },
    );
  };
  // Not awaited, because some browsers ask the person first.
  const notifyStorageLimits = async (areKeysSaved: boolean) => {
    if (!areKeysSaved) notify({ tone: "info", text: t("device.forgets_status") });
    else if (!(await requestPersistentStorage())) notify({ tone: "info", text: t("device.evictable_status") });
  };
  const savingKind = answerState.status === "saving" ? answerState.kind : null;
  return (
    <Card aria-labelledby="device-question" data-tour="device-question">
      <Stack $gap={4}>
        <SectionTitle id="device-question">{t("device.title")}</SectionTitle>
        <Muted>{t("device.body")}</Muted>
        <Answers>
          <Answer>
            <Button
              tone="quiet"
              wide
              icon={<Laptop aria-hidden />}
              pending={savingKind === "own"}
              disabled={savingKind === "shared"}
              onClick={() => {
                handleAnswer("own");
              }}
            >
              {t("device.own_action")}
            </Button>
            <SmallText>{t("device.own_hint")}</SmallText>
          </Answer>
          <Answer>
            <Button
              tone="quiet"
              wide
              icon={<Users aria-hidden />}
              pending={savingKind === "shared"}
              disabled={savingKind === "own"}
              onClick={() => {
                handleAnswer("shared");
              }}
            >
              {t("device.shared_action")}
            </Button>
            <SmallText>{t("device.shared_hint")}</SmallText>
          </Answer>
        </Answers>
        {answerState.status === "failed" && <ErrorNotice error={answerState.error} />}
      </Stack>
    </Card>
  );
}

/**
 * Asks the browser to keep stored data until the person deletes it. Returns false if the browser
 * refuses or cannot do so.
 */
async function requestPersistentStorage(): Promise<boolean> {
  try {
    return await navigator.storage.persist();
  } catch {
    return false; // no such API, or not allowed in this window
  }
}

const Answers = styled.div`
  display: grid;
  grid-template-columns: 1fr 1fr;
  gap: ${space(4)};
  ${media.mobile} {
    grid-template-columns: 1fr;
  }
`;

const Answer = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  padding: ${space(4)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
`;
