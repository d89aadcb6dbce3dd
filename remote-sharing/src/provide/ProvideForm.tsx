import { zodResolver } from "@hookform/resolvers/zod";
import { usePortal, type OfferedRequest, type Visitor } from "@relicario/shared/contract";
import { ActProgress, FileField, KindChoice, SecretTextArea, SeedField, TextArea } from "@relicario/shared/forms";
import { formatsOf } from "@relicario/shared/i18n";
import {
  Button,
  Card,
  ErrorNotice,
  LeaveGuard,
  Notice,
  s,
  SmallText,
  space,
  SpacedRow,
  Stack,
} from "@relicario/shared/ui";
import { useMemo } from "react";
import { Controller, useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { useAct } from "../vault/useAct.ts";
import { isProvideProblem, provideDraft, providedOf, type ProvideDraft } from "./provide-draft.ts";

/** What answering gave. */
export type Taken = Awaited<ReturnType<Visitor["answer"]>>;

interface ProvideFormProps {
  readonly visitor: Visitor;
  readonly requestId: string;
  readonly offer: OfferedRequest;
  readonly onSent: (taken: Taken) => void;
}

/** Who asks, for what; a text, a seed phrase or a file, sealed here to whoever made the link. */
export function ProvideForm({ visitor, requestId, offer, onSent }: ProvideFormProps) {
  const { t } = useTranslation(["beta-recover-share", "errors"]);
  const { language } = usePortal();
  const { title, note, askedBy, expiresAt, maxSize, begun } = offer;
  const schema = useMemo(() => provideDraft(maxSize), [maxSize]);
  const { control, register, handleSubmit, formState } = useForm<ProvideDraft>({
    resolver: zodResolver(schema),
    defaultValues: { kind: begun === null ? "text" : "file", text: "", file: null, note: "" },
  });
  const kind = useWatch({ control, name: "kind" });
  const { state, run, cancel } = useAct();
  const busy = state.status === "running";
  const { errors } = formState;
  const formats = formatsOf(language);
  const problemText = (message: string | undefined) => {
    if (message === undefined) return null;
    return isProvideProblem(message)
      ? t(`provide.${message}_error`, { size: formats.size(maxSize) })
      : t("errors:unknown");
  };

  const send = (draft: ProvideDraft, anew = false) => {
    run(async (options) => {
      const taken = await visitor.answer(requestId, providedOf(draft), { ...options, anew });
      if (!options.signal.aborted) onSent(taken);
    });
  };
  const isAnother = state.status === "failed" && state.error.code === "file_changed";
  return (
    <form
      onSubmit={(event) =>
        void handleSubmit((draft) => {
          send(draft);
        })(event)
      }
      noValidate
    >
      <LeaveGuard
        guarding={formState.isDirty}
        title={t("leave.title")}
        body={t("leave.body")}
        leave={t("leave.leave_action")}
        stay={t("leave.stay_action")}
      />
      <Stack $gap={5}>
        <Card as="section" aria-labelledby="asked-for">
          <Stack $gap={3}>
            <SmallText>{t("provide.asks_label", { name: askedBy })}</SmallText>
            <Wanted id="asked-for" dir="auto">
              {title}
            </Wanted>
            {note !== "" && <Note dir="auto">{note}</Note>}
            <SmallText>
              {t("provide.facts_body", { when: formats.dateTime(expiresAt), size: formats.size(maxSize) })}
            </SmallText>
            <Notice tone="warn">{t("provide.vouch_body", { name: askedBy })}</Notice>
          </Stack>
        </Card>
        {begun !== null && (
          <Notice title={t("provide.begun_title")}>
            {t("provide.begun_body", {
              name: begun.name,
              sent: formats.size(begun.sent),
              size: formats.size(begun.size),
            })}
          </Notice>
        )}
        <Card as="div">
          <Stack $gap={5}>
            <Controller
              control={control}
              name="kind"
              render={({ field }) => (
                <KindChoice
                  legend={t("provide.kind_label")}
                  value={field.value}
                  disabled={busy}
                  onChange={field.onChange}
                />
              )}
            />
            {kind === "text" && (
              <SecretTextArea
                label={t("provide.text_label")}
                hint={t("provide.text_hint")}
                error={problemText(errors.text?.message)}
                disabled={busy}
                {...register("text")}
              />
            )}
            {kind === "seed" && (
              <Controller
                control={control}
                name="text"
                render={({ field, fieldState }) => (
                  <SeedField
                    value={field.value}
                    disabled={busy}
                    error={problemText(fieldState.error?.message)}
                    fieldRef={field.ref}
                    onBlur={field.onBlur}
                    onChange={field.onChange}
                  />
                )}
              />
            )}
            {kind === "file" && (
              <Controller
                control={control}
                name="file"
                render={({ field, fieldState }) => (
                  <FileField
                    label={t("provide.file_aria")}
                    invitation={t("provide.drop_body", { size: formats.size(maxSize) })}
                    hint={t("provide.file_hint")}
                    value={field.value}
                    disabled={busy}
                    error={problemText(fieldState.error?.message)}
                    onChange={field.onChange}
                  />
                )}
              />
            )}
            <TextArea
              optional
              rows={2}
              label={t("provide.note_label")}
              error={problemText(errors.note?.message)}
              disabled={busy}
              {...register("note")}
            />
            {state.status === "running" && <ActProgress progress={state.progress} first="sealing" />}
            {isAnother && (
              <Notice tone="warn" role="alert" title={t("provide.another_title")}>
                {t("provide.another_body")}
              </Notice>
            )}
            <ErrorNotice error={state.status === "failed" && !isAnother ? state.error : null} />
            <SpacedRow>
              <Button type="submit" size="large" pending={busy}>
                {t(begun === null ? "provide.send_action" : "provide.go_on_action")}
              </Button>
              {isAnother && (
                <Button
                  tone="quiet"
                  size="large"
                  onClick={() =>
                    void handleSubmit((draft) => {
                      send(draft, true);
                    })()
                  }
                >
                  {t("provide.anew_action")}
                </Button>
              )}
              {busy && (
                <Button tone="quiet" size="large" onClick={cancel}>
                  {t("provide.cancel_action")}
                </Button>
              )}
            </SpacedRow>
            <SmallText>{t("provide.sealed_body")}</SmallText>
          </Stack>
        </Card>
      </Stack>
    </form>
  );
}

const Wanted = styled.h2`
  font-size: ${s("textLarge")};
  overflow-wrap: anywhere;
`;

const Note = styled.p`
  padding-left: ${space(3)};
  border-left: 3px solid ${s("border")};
  white-space: pre-wrap;
  overflow-wrap: anywhere;
`;
