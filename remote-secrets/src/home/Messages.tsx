import { pageStorage, usePortal, type PortalMessage } from "@relicario/shared/contract";
import { Card, IconButton, s, space, visuallyHidden } from "@relicario/shared/ui";
import { ExternalLink, Lightbulb, Megaphone, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { readClosedMessages, closeMessage } from "./closed-messages.ts";

/** Id of the built-in advice. */
const adviceId = "copies";

/**
 * Shows the vendor's messages in the deployment document or, if there are none, the built-in
 * advice. That a message was closed is stored on this device.
 */
export function Messages() {
  const { t } = useTranslation("ad-banner");
  const { vendor, language } = usePortal();
  const [closedIds, setClosedIds] = useState(() => readClosedMessages(pageStorage.local));
  const openMessages = vendor.messages.filter(({ id }) => !closedIds.includes(id));
  const showsAdvice = vendor.messages.length === 0 && !closedIds.includes(adviceId);
  if (openMessages.length === 0 && !showsAdvice) return null;
  const handleClose = (id: string) => {
    setClosedIds(closeMessage(pageStorage.local, id));
  };
  return (
    <section aria-labelledby="messages-title" data-tour="home-messages">
      <VisuallyHiddenTitle id="messages-title">{t("messages.title")}</VisuallyHiddenTitle>
      <List>
        {openMessages.map((message) => (
          <Message
            key={message.id}
            title={message.title[language]}
            body={message.body[language]}
            link={getSafeLink(message)}
            onClose={() => handleClose(message.id)}
          />
        ))}
        {showsAdvice && (
          <Message
            isBuiltIn
            title={t("advice.copies_title")}
            body={t("advice.copies_body")}
            link={null}
            onClose={() => handleClose(adviceId)}
          />
        )}
      </List>
    </section>
  );
}

interface MessageProps {
  readonly title: string;
  readonly body: string;
  readonly link: string | null;
  readonly isBuiltIn?: boolean;
  readonly onClose: () => void;
}

function Message({ title, body, link, isBuiltIn = false, onClose }: MessageProps) {
  const { t } = useTranslation("ad-banner");
  const Icon = isBuiltIn ? Lightbulb : Megaphone;
  return (
    <Card as="li">
      <Icon aria-hidden size={20} />
      <div>
        <h3>{title}</h3>
        <p>{body}</p>
        {link !== null && (
          <a href={link} target="_blank" rel="noopener noreferrer">
            {t("messages.link_action")}
            <ExternalLink aria-hidden size={16} />
            <VisuallyHiddenTitle as="span">{t("messages.link_hint")}</VisuallyHiddenTitle>
          </a>
        )}
      </div>
      <IconButton label={t("messages.close_action", { title })} icon={<X aria-hidden />} onClick={onClose} />
    </Card>
  );
}

/** Returns the link if it is a `https:` or same-origin address; otherwise null. */
function getSafeLink({ link }: PortalMessage): string | null {
  const address = link === undefined ? null : URL.parse(link);
  return address !== null && (address.protocol === "https:" || address.origin === location.origin)
    ? address.href
    : null;
}

const List = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  & > li {
    display: flex;
    align-items: flex-start;
    gap: ${space(3)};
    padding: ${space(4)} ${space(2)} ${space(4)} ${space(4)};
    & > svg {
      flex: none;
      margin-top: 2px;
      color: ${s("accentText")};
    }
    & > div {
      flex: 1 1 auto;
      min-width: 0;
      max-width: ${s("lineLength")};
    }
    & > button {
      margin: -${space(2)} 0 -${space(2)} auto;
    }
    & h3 {
      font-size: ${s("textBase")};
    }
    & p {
      color: ${s("textMuted")};
    }
    & a {
      display: inline-flex;
      align-items: center;
      gap: ${space(1)};
      min-height: 32px;
      color: ${s("accentText")};
      font-weight: 550;
    }
  }
`;

const VisuallyHiddenTitle = styled.h2`
  ${visuallyHidden}
`;
