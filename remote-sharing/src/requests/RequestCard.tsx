import { usePortal, type RequestRow, type OpenedAnswer, type Vault } from "@relicario/shared/contract";
import { RequestedOpener, runUnlocked, useVaultOperation } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import { Button, Card, Notice, SpacedRow, Stack, Verbatim } from "@relicario/shared/ui";
import { CircleCheck, CircleX, Hourglass, Inbox, type LucideIcon } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { useRefetch } from "../data/sharing.ts";
import { CardFacts, CardHeader, CardName } from "../link/card-header.tsx";
import { LinkPanel } from "../link/LinkPanel.tsx";
import { AnswerPanel } from "./AnswerPanel.tsx";

interface RequestCardProps {
  readonly vault: Vault;
  readonly request: RequestRow;
}

const stateIcons = {
  awaiting: Hourglass,
  provided: Inbox,
  collected: CircleCheck,
  expired: CircleX,
  revoked: CircleX,
} as const satisfies Record<RequestRow["state"], LucideIcon>;

export function RequestCard({ vault, request }: RequestCardProps) {
  const { t } = useTranslation("beta-share");
  const { language, confirm } = usePortal();
  const refetch = useRefetch();
  const [link, setLink] = useState<string | null>(null);
  const { answer, setAnswer } = useOpenedAnswer();
  const showLinkOperation = useVaultOperation({ vault });
  const openOperation = useVaultOperation({ vault });
  const { requestId, state, discrepancy } = request;
  const changeOperation = useVaultOperation({ vault });
  const change = (run: () => Promise<void>) => {
    changeOperation.start({ run: runUnlocked(vault, run), onSettled: () => void refetch() });
  };
  const formats = getFormats(language);
  const Icon = stateIcons[state];
  const isAwaiting = state === "awaiting";
  const isManageable = discrepancy !== "unknown"; // a request that only the service lists can only be ended
  const hasAnswer = (state === "provided" || state === "collected") && request.size !== null;
  const canEnd = state !== "revoked" || discrepancy === "not_revoked_here";
  const endAction = isAwaiting ? "revoke" : hasAnswer ? "drop" : "delete";
  const title = request.title === "" ? t("asked.untitled_title") : request.title;

  const handleDrop = async () => {
    const confirmed = await confirm({
      title: t(`asked.${endAction}_confirm_title`),
      description: t(`asked.${endAction}_confirm_body`),
      confirmLabel: t(`asked.${endAction}_confirm_action`),
      alert: true,
      danger: true,
    });
    if (!confirmed) return;
    setLink(null);
    setAnswer(null);
    change(() => vault.requests.drop(requestId));
  };
  const handleShowLink = () => {
    showLinkOperation.start({
      run: (options, opener) => vault.requests.getLink(requestId, opener, options),
      onDone: setLink,
    });
  };
  const handleOpen = () => {
    openOperation.start({
      run: (options, opener) => vault.requests.open(requestId, opener, options),
      onDone: (openedAnswer) => {
        setAnswer(openedAnswer);
      },
      onLateResult: ({ dispose }) => {
        dispose();
      },
    });
  };
  return (
    <Card data-state={state}>
      <Stack $gap={4}>
        <CardHeader>
          <Icon aria-hidden />
          <div>
            <CardName>
              <Verbatim>{title}</Verbatim>
            </CardName>
            <CardFacts>
              <li>
                <strong>
                  {state === "provided" && request.providedAt !== null
                    ? t("asked.provided_body", { when: formats.dateTime(request.providedAt) })
                    : t(`asked.state_${state}_label`)}
                </strong>
              </li>
              {isAwaiting && <li>{t("given.until_body", { when: formats.dateTime(request.expiresAt) })}</li>}
              {state !== "provided" && request.providedAt !== null && (
                <li>{t("asked.provided_body", { when: formats.dateTime(request.providedAt) })}</li>
              )}
              {request.size !== null && <li>{formats.size(request.size)}</li>}
              <li>{t("asked.created_body", { when: formats.dateTime(request.createdAt) })}</li>
            </CardFacts>
          </div>
        </CardHeader>
        {discrepancy !== null && (
          <Notice tone="danger" title={t("doubt.title")}>
            {t(`doubt.request_${discrepancy}_body`)}
          </Notice>
        )}
        {canEnd && answer === null && (
          <SpacedRow>
            {isManageable && hasAnswer && (
              <Button size="small" pending={openOperation.running} onClick={handleOpen}>
                {t("asked.open_action")}
              </Button>
            )}
            {isManageable && isAwaiting && (
              <Button tone="quiet" size="small" pending={showLinkOperation.running} onClick={handleShowLink}>
                {t("given.show_action")}
              </Button>
            )}
            <Button tone="danger" size="small" pending={changeOperation.running} onClick={() => void handleDrop()}>
              {t(isAwaiting ? "asked.revoke_action" : "asked.drop_action")}
            </Button>
          </SpacedRow>
        )}
        <RequestedOpener vault={vault} operation={changeOperation} />
        <RequestedOpener
          vault={vault}
          operation={showLinkOperation}
          reason={t("given.show_reason_body")}
          label={t("given.show_action")}
        />
        <RequestedOpener
          vault={vault}
          operation={openOperation}
          reason={t("asked.open_reason_body")}
          label={t("asked.open_action")}
        />
        {isAwaiting && link !== null && <LinkPanel link={link} />}
        {answer !== null && (
          <AnswerPanel
            vault={vault}
            answer={answer}
            title={title}
            collected={state === "collected"}
            collecting={changeOperation.running}
            onCollect={() => {
              change(() => vault.requests.collect(requestId));
            }}
            onDrop={() => void handleDrop()}
            onClose={() => {
              setAnswer(null);
            }}
          />
        )}
      </Stack>
    </Card>
  );
}

/** Keeps the opened answer. Wipes it when it is replaced, at a lock, and on unmount. */
function useOpenedAnswer() {
  const { onLock } = usePortal();
  const [answer, setAnswer] = useState<OpenedAnswer | null>(null);
  useEffect(() => {
    if (answer === null) return undefined;
    const unsubscribe = onLock(() => {
      setAnswer(null);
    });
    return () => {
      unsubscribe();
      answer.dispose();
    };
  }, [answer, onLock]);
  return { answer, setAnswer };
}
