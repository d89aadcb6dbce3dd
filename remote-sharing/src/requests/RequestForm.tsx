import { zodResolver } from "@hookform/resolvers/zod";
import { usePortal, type Vault } from "@relicario/shared/contract";
import { Checkbox, RequestedOpener, TextArea, TextField, useVaultOperation } from "@relicario/shared/forms";
import {
  Button,
  ButtonLink,
  Card,
  markVerbatim,
  Notice,
  renderVerbatim,
  SectionTitle,
  SmallText,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useEffect, useRef, useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";

import { useRefetch } from "../data/sharing.ts";
import { ChoiceRow } from "../link/ChoiceRow.tsx";
import { LinkPanel } from "../link/LinkPanel.tsx";
import {
  RequestDraft,
  requestLifetimeNames,
  requestSizeNames,
  isRequestProblem,
  toSecretRequest,
} from "./request-draft.ts";

/**
 * Form for a request: title, note, requester's name, expiry and maximum size. Then shows the
 * request's link.
 */
export function RequestForm({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation(["beta-share", "errors"]);
  const { user } = usePortal();
  const refetch = useRefetch();
  const [createdRequest, setCreatedRequest] = useState<{ readonly title: string; readonly link: string } | null>(null);
  const { register, control, handleSubmit, setValue, formState } = useForm<RequestDraft>({
    resolver: zodResolver(RequestDraft),
    defaultValues: { title: "", note: "", requesterName: user.userName, lifetime: "week", size: "photo", notify: true },
  });
  const [lifetime, size, notify] = useWatch({ control, name: ["lifetime", "size", "notify"] });
  const operation = useVaultOperation({ vault });
  const busy = operation.running || operation.asksOpener;
  const { errors } = formState;
  const translateProblem = (message: string | undefined) =>
    message === undefined ? null : isRequestProblem(message) ? t(`ask.${message}_error`) : t("errors:unknown");

  const createRequest = (draft: RequestDraft) => {
    operation.start({
      run: (options, opener) => vault.requests.create(toSecretRequest(draft, Date.now()), opener, options),
      onDone: ({ link }) => {
        setCreatedRequest({ title: draft.title, link });
      },
      onSettled: () => void refetch(),
    });
  };
  if (createdRequest !== null) return <CreatedRequestCard title={createdRequest.title} link={createdRequest.link} />;
  return (
    <form onSubmit={(event) => void handleSubmit(createRequest)(event)} noValidate>
      <Card as="div">
        <Stack $gap={6}>
          <TextField
            label={t("ask.title_label")}
            hint={t("ask.title_hint")}
            error={translateProblem(errors.title?.message)}
            autoComplete="off"
            disabled={busy}
            {...register("title")}
          />
          <TextArea
            optional
            rows={3}
            label={t("ask.note_label")}
            hint={t("ask.note_hint")}
            error={translateProblem(errors.note?.message)}
            disabled={busy}
            {...register("note")}
          />
          <TextField
            label={t("ask.name_label")}
            hint={t("ask.name_hint")}
            error={translateProblem(errors.requesterName?.message)}
            autoComplete="name"
            disabled={busy}
            {...register("requesterName")}
          />
          <ChoiceRow
            legend={t("ask.lifetime_label")}
            disabled={busy}
            choices={requestLifetimeNames.map((value) => ({ value, label: t(`create.lifetime_${value}_label`) }))}
            value={lifetime}
            onChange={(value) => {
              setValue("lifetime", value);
            }}
          />
          <ChoiceRow
            legend={t("ask.size_label")}
            disabled={busy}
            choices={requestSizeNames.map((value) => ({ value, label: t(`ask.size_${value}_label`) }))}
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
          <RequestedOpener
            vault={vault}
            operation={operation}
            reason={t("ask.opener_reason_body")}
            label={t("ask.create_action")}
          />
          {!operation.asksOpener && (
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

interface CreatedRequestCardProps {
  readonly title: string;
  readonly link: string;
}

function CreatedRequestCard({ title, link }: CreatedRequestCardProps) {
  const { t } = useTranslation("beta-share");
  const headingRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    headingRef.current?.focus(); // the card replaced the form
  }, []);
  return (
    <Card aria-labelledby="request-made">
      <Stack $gap={5}>
        <SectionTitle id="request-made" ref={headingRef} tabIndex={-1}>
          {renderVerbatim(t("asked.made_title", { title: markVerbatim(title) }))}
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
