import { zodResolver } from "@hookform/resolvers/zod";
import { usePortal, type Vault } from "@relicario/shared/contract";
import { Checkbox, TextArea, TextField } from "@relicario/shared/forms";
import { Button, ButtonLink, Card, Notice, SectionTitle, SmallText, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useRef, useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { useReadAnew } from "../data/sharing.ts";
import { ChoiceRow } from "../link/ChoiceRow.tsx";
import { LinkPanel } from "../link/LinkPanel.tsx";
import { OpenerPanel } from "../vault/OpenerPanel.tsx";
import { useOpenerAct } from "../vault/useOpenerAct.ts";
import { AskDraft, askLifetimeNames, askSizeNames, isAskProblem, secretRequestOf } from "./ask-draft.ts";

/** What is needed and why, as whom, until when, how large; then the link to hand on. */
export function AskForm({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation(["beta-share", "errors"]);
  const { user } = usePortal();
  const readAnew = useReadAnew();
  const [made, setMade] = useState<{ readonly title: string; readonly link: string } | null>(null);
  const { register, control, handleSubmit, setValue, formState } = useForm<AskDraft>({
    resolver: zodResolver(AskDraft),
    defaultValues: { title: "", note: "", askedBy: user.userName, lifetime: "week", size: "photo", notify: true },
  });
  const [lifetime, size, notify] = useWatch({ control, name: ["lifetime", "size", "notify"] });
  const act = useOpenerAct();
  const busy = act.state.status === "running" || act.state.status === "asking";
  const { errors } = formState;
  const problemText = (message: string | undefined) =>
    message === undefined ? null : isAskProblem(message) ? t(`ask.${message}_error`) : t("errors:unknown");

  const ask = (draft: AskDraft) => {
    act.start(async (opener, options) => {
      const { link } = await vault.requests.create(secretRequestOf(draft, Date.now()), opener, options);
      setMade({ title: draft.title, link });
      void readAnew();
    });
  };
  if (made !== null) return <MadeRequest title={made.title} link={made.link} />;
  return (
    <form onSubmit={(event) => void handleSubmit(ask)(event)} noValidate>
      <Card as="div">
        <Stack $gap={6}>
          <TextField
            label={t("ask.title_label")}
            hint={t("ask.title_hint")}
            error={problemText(errors.title?.message)}
            autoComplete="off"
            disabled={busy}
            {...register("title")}
          />
          <TextArea
            optional
            rows={3}
            label={t("ask.note_label")}
            hint={t("ask.note_hint")}
            error={problemText(errors.note?.message)}
            disabled={busy}
            {...register("note")}
          />
          <TextField
            label={t("ask.name_label")}
            hint={t("ask.name_hint")}
            error={problemText(errors.askedBy?.message)}
            autoComplete="name"
            disabled={busy}
            {...register("askedBy")}
          />
          <ChoiceRow
            legend={t("ask.lifetime_label")}
            disabled={busy}
            choices={askLifetimeNames.map((value) => ({ value, label: t(`create.lifetime_${value}_label`) }))}
            value={lifetime}
            onChange={(value) => {
              setValue("lifetime", value);
            }}
          />
          <ChoiceRow
            legend={t("ask.size_label")}
            disabled={busy}
            choices={askSizeNames.map((value) => ({ value, label: t(`ask.size_${value}_label`) }))}
            value={size}
            onChange={(value) => {
              setValue("size", value);
            }}
          />
          <Checkbox
            label={t("ask.notify_label")}
            checked={notify}
            disabled={busy}
            onChange={(event) => {
              setValue("notify", event.target.checked);
            }}
          />
          <OpenerPanel vault={vault} act={act} reason={t("ask.opener_reason_body")} action={t("ask.create_action")} />
          {act.state.status !== "asking" && !(act.state.status === "running" && act.state.asked) && (
            <SpacedRow>
              <Button type="submit" size="large" pending={busy}>
                {t("ask.create_action")}
              </Button>
            </SpacedRow>
          )}
        </Stack>
      </Card>
    </form>
  );
}

interface MadeRequestProps {
  readonly title: string;
  readonly link: string;
}

function MadeRequest({ title, link }: MadeRequestProps) {
  const { t } = useTranslation("beta-share");
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus(); // it took the place of the form
  }, []);
  return (
    <Card aria-labelledby="request-made">
      <Stack $gap={5}>
        <SectionTitle id="request-made" ref={heading} tabIndex={-1}>
          {t("asked.made_title", { title })}
        </SectionTitle>
        <p>{t("asked.made_body")}</p>
        <LinkPanel link={link} />
        <Notice>{t("asked.made_vouch_body")}</Notice>
        <SmallText>{t("asked.made_again_body")}</SmallText>
        <div>
          <ButtonLink to="/asked-for">{t("asked.list_action")}</ButtonLink>
        </div>
      </Stack>
    </Card>
  );
}
