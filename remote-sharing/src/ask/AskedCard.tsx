import { usePortal, type AskedRow, type OpenedAnswer, type Vault } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { Button, Card, ErrorNotice, Notice, SpacedRow, Stack } from "@relicario/shared/ui";
import { useMutation } from "@tanstack/react-query";
import { CircleCheck, CircleX, Hourglass, Inbox, type LucideIcon } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { useReadAnew } from "../data/sharing.ts";
import { CardFacts, CardHead, CardName } from "../link/card-head.tsx";
import { LinkPanel } from "../link/LinkPanel.tsx";
import { OpenerPanel } from "../vault/OpenerPanel.tsx";
import { useOpenerAct } from "../vault/useOpenerAct.ts";
import { Answer } from "./Answer.tsx";

interface AskedCardProps {
  readonly vault: Vault;
  readonly request: AskedRow;
}

const icons = {
  awaiting: Hourglass,
  provided: Inbox,
  collected: CircleCheck,
  expired: CircleX,
  revoked: CircleX,
} as const satisfies Record<AskedRow["state"], LucideIcon>;

/** One request: its state, its link while it waits, its answer once it came. */
export function AskedCard({ vault, request }: AskedCardProps) {
  const { t } = useTranslation("beta-share");
  const { language, confirm } = usePortal();
  const readAnew = useReadAnew();
  const [link, setLink] = useState<string | null>(null);
  const { answer, setAnswer } = useOpenedAnswer();
  const showing = useOpenerAct();
  const opening = useOpenerAct();
  const { requestId, state, doubt } = request;
  const drop = useMutation({ mutationFn: () => vault.requests.drop(requestId), onSettled: readAnew });
  const collect = useMutation({ mutationFn: () => vault.requests.collect(requestId), onSettled: readAnew });
  const formats = formatsOf(language);
  const Icon = icons[state];
  const waits = state === "awaiting";
  const own = doubt !== "unknown"; // of another one nothing is known but that it can be ended
  const came = (state === "provided" || state === "collected") && request.size !== null;
  const canEnd = state !== "revoked" || doubt === "not_revoked_here";
  const ending = waits ? "revoke" : came ? "drop" : "delete";
  const title = request.title === "" ? t("asked.untitled_title") : request.title;

  const handleDrop = async () => {
    const sure = await confirm({
      title: t(`asked.${ending}_confirm_title`),
      description: t(`asked.${ending}_confirm_body`),
      confirmLabel: t(`asked.${ending}_confirm_action`),
      alert: true,
      danger: true,
    });
    if (!sure) return;
    setLink(null);
    setAnswer(null);
    drop.mutate();
  };
  const handleShow = () => {
    showing.start(async (opener, options) => {
      setLink(await vault.requests.showLink(requestId, opener, options));
    });
  };
  const handleOpen = () => {
    opening.start(async (opener, options) => {
      setAnswer(await vault.requests.open(requestId, opener, options));
    });
  };
  return (
    <Card data-state={state}>
      <Stack $gap={4}>
        <CardHead>
          <Icon aria-hidden />
          <div>
            <CardName>{title}</CardName>
            <CardFacts>
              <li>
                <strong>{t(`asked.state_${state}_label`)}</strong>
              </li>
              {waits && <li>{t("given.until_body", { when: formats.dateTime(request.expiresAt) })}</li>}
              {request.providedAt !== null && (
                <li>{t("asked.provided_body", { when: formats.dateTime(request.providedAt) })}</li>
              )}
              {request.size !== null && <li>{formats.size(request.size)}</li>}
              <li>{t("asked.created_body", { when: formats.dateTime(request.createdAt) })}</li>
            </CardFacts>
          </div>
        </CardHead>
        {doubt !== null && (
          <Notice tone="danger" title={t("doubt.title")}>
            {t(`doubt.request_${doubt}_body`)}
          </Notice>
        )}
        {canEnd && answer === null && (
          <SpacedRow>
            {own && came && (
              <Button size="small" pending={opening.state.status === "running"} onClick={handleOpen}>
                {t("asked.open_action")}
              </Button>
            )}
            {own && waits && (
              <Button tone="quiet" size="small" pending={showing.state.status === "running"} onClick={handleShow}>
                {t("given.show_action")}
              </Button>
            )}
            <Button tone="danger" size="small" pending={drop.isPending} onClick={() => void handleDrop()}>
              {t(waits ? "asked.revoke_action" : "asked.drop_action")}
            </Button>
          </SpacedRow>
        )}
        <ErrorNotice error={drop.error ?? collect.error} />
        <OpenerPanel vault={vault} act={showing} reason={t("given.show_reason_body")} action={t("given.show_action")} />
        <OpenerPanel vault={vault} act={opening} reason={t("asked.open_reason_body")} action={t("asked.open_action")} />
        {waits && link !== null && <LinkPanel link={link} />}
        {answer !== null && (
          <Answer
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
    const undo = onLock(() => {
      setAnswer(null);
    });
    return () => {
      undo();
      answer.content?.fill(0);
      answer.putAway();
    };
  }, [answer, onLock]);
  return { answer, setAnswer };
}
