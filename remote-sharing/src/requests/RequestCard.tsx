import { usePortal, type RequestRow, type OpenedAnswer, type Vault } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Button, Card, ErrorNotice, Notice, SpacedRow, Stack } from "@relicario/shared/ui";
import { useMutation } from "@tanstack/react-query";
import { CircleCheck, CircleX, Hourglass, Inbox, type LucideIcon } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { useRefetch } from "../data/sharing.ts";
import { CardFacts, CardHeader, CardName } from "../link/card-header.tsx";
import { LinkPanel } from "../link/LinkPanel.tsx";
import { OpenerPanel } from "../vault/OpenerPanel.tsx";
import { useOpenerOperation } from "../vault/useOpenerOperation.ts";
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

/** One request: its state, its link while it waits, its answer once it came. */
export function RequestCard({ vault, request }: RequestCardProps) {
  const { t } = useTranslation("beta-share");
  const { language, confirm } = usePortal();
  const refetch = useRefetch();
  const [link, setLink] = useState<string | null>(null);
  const { answer, setAnswer } = useOpenedAnswer();
  const showLinkOperation = useOpenerOperation();
  const openOperation = useOpenerOperation();
  const { requestId, state, discrepancy } = request;
  const drop = useMutation({ mutationFn: () => vault.requests.drop(requestId), onSettled: refetch });
  const collect = useMutation({ mutationFn: () => vault.requests.collect(requestId), onSettled: refetch });
  const formats = getFormats(language);
  const Icon = stateIcons[state];
  const isAwaiting = state === "awaiting";
  const isManageable = discrepancy !== "unknown"; // of another one nothing is known but that it can be ended
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
    drop.mutate();
  };
  const handleShowLink = () => {
    showLinkOperation.start(async (opener, options) => {
      setLink(await vault.requests.getLink(requestId, opener, options));
    });
  };
  const handleOpen = () => {
    openOperation.start(async (opener, options) => {
      setAnswer(await vault.requests.open(requestId, opener, options));
    });
  };
  return (
    <Card data-state={state}>
      <Stack $gap={4}>
        <CardHeader>
          <Icon aria-hidden />
          <div>
            <CardName>{title}</CardName>
            <CardFacts>
              <li>
                <strong>{t(`asked.state_${state}_label`)}</strong>
              </li>
              {isAwaiting && <li>{t("given.until_body", { when: formats.dateTime(request.expiresAt) })}</li>}
              {request.providedAt !== null && (
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
              <Button size="small" pending={openOperation.state.status === "running"} onClick={handleOpen}>
                {t("asked.open_action")}
              </Button>
            )}
            {isManageable && isAwaiting && (
              <Button
                tone="quiet"
                size="small"
                pending={showLinkOperation.state.status === "running"}
                onClick={handleShowLink}
              >
                {t("given.show_action")}
              </Button>
            )}
            <Button tone="danger" size="small" pending={drop.isPending} onClick={() => void handleDrop()}>
              {t(isAwaiting ? "asked.revoke_action" : "asked.drop_action")}
            </Button>
          </SpacedRow>
        )}
        <ErrorNotice error={drop.error ?? collect.error} />
        <OpenerPanel
          vault={vault}
          operation={showLinkOperation}
          reason={t("given.show_reason_body")}
          action={t("given.show_action")}
        />
        <OpenerPanel
          vault={vault}
          operation={openOperation}
          reason={t("asked.open_reason_body")}
          action={t("asked.open_action")}
        />
        {isAwaiting && link !== null && <LinkPanel link={link} />}
        {answer !== null && (
          <AnswerPanel
            vault={vault}
            answer={answer}
            title={title}
            collected={state === "collected"}
            collecting={collect.isPending}
            onCollect={() => {
              collect.mutate();
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

/**
 * The opened answer. It is put away, its bytes overwritten, when another takes its place, on lock,
 * and when the page goes.
 */
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
      answer.content?.fill(0);
      answer.dispose();
    };
  }, [answer, onLock]);
  return { answer, setAnswer };
}
