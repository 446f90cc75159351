"""What the commonest things are called in other languages than that of the tools: for words that no tool says."""

from __future__ import annotations

from isolith_bindings.stemming import stem

# In Spanish, French, German, Portuguese and Italian, without accents.
_TRANSLATED = {
    "create": "crear creer erstellen anlegen criar creare",
    "add": "anadir agregar ajouter hinzufugen adicionar aggiungere",
    "delete": "eliminar borrar supprimer loschen entfernen excluir apagar eliminare cancellare",
    "update": "actualizar actualiser aktualisieren atualizar aggiornare",
    "change": "cambiar modificar changer andern modificare cambiare",
    "list": "listar lister auflisten liste lista elencare",
    "get": "obtener obtenir holen abrufen obter ottenere",
    "show": "mostrar afficher anzeigen zeigen mostrare",
    "search": "buscar chercher rechercher suchen procurar cercare",
    "send": "enviar envoyer senden schicken inviare",
    "open": "abrir ouvrir offnen aprire",
    "close": "cerrar fermer schliessen fechar chiudere",
    "message": "mensaje nachricht mensagem messaggio",
    "user": "usuario utilisateur benutzer utente",
    "file": "archivo fichier datei arquivo",
    "folder": "carpeta dossier ordner cartella",
    "customer": "cliente kunde kunden",
    "contact": "contacto kontakt contato contatto",
    "invoice": "factura facture rechnung fatura fattura",
    "order": "pedido commande bestellung ordine",
    "payment": "pago paiement zahlung pagamento",
    "repository": "repositorio depot repositorium",
    "comment": "comentario commentaire kommentar commento",
    "project": "proyecto projet projekt projeto progetto",
    "calendar": "calendario calendrier kalender",
    "event": "evento evenement ereignis",
    "meeting": "reunion besprechung reuniao riunione",
    "error": "fehler erreur erro errore",
}
TRANSLATIONS = {word: stem(english) for english, said in _TRANSLATED.items() for word in said.split()}


def translated(word: str) -> str | None:
    """The stem of what an unknown word says in English, in the plural as well."""
    return TRANSLATIONS.get(word) or (TRANSLATIONS.get(word[:-1]) if word.endswith("s") else None)
