"""The meaning of JSON keys and table headings in many languages: a name, a price, a price level, a category.

A key is compared in lower case, without accents, separators, brackets and currencies: `Preis (EUR)`, `preis_eur` and `preisEur`
are all `preis`. Words are listed by language, the clearest first; a word of two languages is listed once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from collector.answers.texts.remembered import remembered

Role = Literal["name", "price", "level", "category", "currency", "list", "rank"]

_NAMES: Mapping[str, str] = {
    "en": "name title item itemname product productname producttitle model hotel hotelname restaurant restaurantname business"
    " businessname book booktitle movie movietitle film filmtitle song songtitle track trackname album game course coursename"
    " job jobtitle dish recipe recommendation",
    "de": "titel bezeichnung produktname produkt artikelname artikel produktbezeichnung artikelbezeichnung modell buch buchtitel"
    " filmtitel lied liedtitel spiel kurs gericht angebot empfehlung",
    "fr": "nom titre intitule libelle designation produit nomduproduit article modele livre chanson morceau"
    " jeu plat ouvrage oeuvre",
    "es": "nombre titulo producto nombredelproducto articulo modelo libro pelicula cancion juego plato obra",
    "pt": "nome produto nomedoproduto artigo livro filme musica jogo prato",
    "it": "titolo prodotto nomeprodotto articolo modello libro canzone brano gioco piatto",
    "nl": "naam productnaam boek boektitel lied spel gerecht",
    "sv": "namn titel produktnamn bok lat spel ratt",
    "da": "navn titel produktnavn bog sang spil ret",
    "fi": "nimi tuote tuotenimi kirja elokuva kappale peli",
    "pl": "nazwa tytul produkt nazwaproduktu ksiazka utwor piosenka gra danie",
    "cs": "nazev titul produkt nazevproduktu kniha skladba pisen hra jidlo",
    "sk": "nazov nazovproduktu",
    "ro": "denumire titlu nume produs numeprodus carte melodie joc",
    "hu": "nev cim termek termeknev konyv dal jatek",
    "tr": "ad adı isim başlık urun urunadı kitap kitapadı sarkı oyun yemek",
    "ru": "название наименование имя заголовок товар продукт модель книга фильм песня игра блюдо",
    "uk": "назва найменування товар книга фільм пісня гра страва",
    "bg": "име заглавие продукт книга филм песен",
    "el": "ονομα τιτλος προιον βιβλιο ταινια τραγουδι παιχνιδι",
    "ar": "الاسم اسم العنوان عنوان المنتج منتج الكتاب كتاب الفيلم فيلم الاغنية اغنية",
    "fa": "نام عنوان محصول کتاب فیلم اهنگ",
    "he": "שם כותרת מוצר ספר סרט שיר",
    "hi": "नाम शीर्षक उत्पाद पुस्तक किताब फिल्म गीत गाना",
    "th": "ชื่อ ชื่อสินค้า ชื่อเรื่อง สินค้า หนังสือ เพลง ภาพยนตร์",
    "vi": "ten tensanpham tieude sanpham sach phim baihat",
    "id": "nama judul produk namaproduk buku lagu permainan",
    "zh": "名称 名稱 名字 标题 標題 商品名称 商品名 产品名称 產品名稱 产品名 商品 产品 產品 书名 書名 片名 电影 電影"
    " 歌名 歌曲 曲目 图书"
    " 作品 作品名 型号 餐厅 餐廳 店名 菜名 推荐",
    "ja": "名前 名称 タイトル 題名 書名 作品名 商品名 製品名 曲名 映画 本 商品 製品 店名 料理名 おすすめ",
    "ko": "이름 제목 상품명 제품명 상품 제품 책 도서 영화 노래 곡명 식당",
}
_PRICES: Mapping[str, str] = {
    "en": "price cost fare sellingprice saleprice unitprice listprice currentprice totalprice",
    "de": "preis kosten verkaufspreis endpreis listenpreis gesamtpreis stuckpreis kaufpreis",
    "fr": "prix cout tarif prixdevente",
    "es": "precio coste costo tarifa",
    "pt": "preco custo",
    "it": "prezzo tariffa",
    "nl": "prijs kosten verkoopprijs",
    "sv": "pris kostnad",
    "da": "pris salgspris",
    "fi": "hinta",
    "pl": "cena koszt",
    "cs": "cena",
    "ro": "pret",
    "hu": "arak vetelar",
    "tr": "fiyat fiyatı ucret",
    "ru": "цена стоимость",
    "uk": "ціна вартість",
    "bg": "цена",
    "el": "τιμη κοστος",
    "ar": "السعر سعر الثمن ثمن التكلفة",
    "fa": "قیمت",
    "he": "מחיר",
    "hi": "मूल्य कीमत दाम",
    "th": "ราคา",
    "vi": "gia giaban giatien",
    "id": "harga",
    "zh": "价格 價格 售价 售價 价钱 单价",
    "ja": "価格 値段 料金 販売価格",
    "ko": "가격 판매가 요금",
}
_LEVELS: Mapping[str, str] = {
    "en": "pricelevel pricerange pricetier pricerating pricepoint pricecategory priceclass",
    "de": "preisklasse preisniveau preisstufe preiskategorie preislevel preislage preissegment",
    "fr": "gammedeprix niveaudeprix fourchettedeprix categoriedeprix",
    "es": "niveldeprecio rangodeprecio gamadeprecios rangodeprecios",
    "pt": "faixadepreco niveldepreco",
    "it": "fasciadiprezzo livellodiprezzo",
    "nl": "prijsklasse prijsniveau prijscategorie",
    "sv": "prisklass prisniva",
    "da": "prisklasse prisniveau",
    "pl": "poziomcen przedziałcenowy kategoriacenowa",
    "tr": "fiyatseviyesi fiyataralıgı",
    "ru": "уровеньцен ценоваякатегория",
    "zh": "价位 價位 价格等级 价格档次 价格水平 价格区间",
    "ja": "価格帯 価格レベル",
    "ko": "가격대",
}
_CATEGORIES: Mapping[str, str] = {
    "en": "categories category cuisines cuisine type tags tag cuisinetype cuisinetypes restauranttype kind genre genres"
    " producttype productcategory department",
    "de": "kategorie kategorien sparte sparten warengruppe produktgruppe produktkategorie rubrik gattung typ sorte bereich"
    " abteilung kuche",
    "fr": "categorie rayon famille typedeproduit",
    "es": "categoria genero tipo seccion tipodecocina",
    "pt": "genero secao",
    "it": "genere reparto cucina",
    "nl": "categorie soort afdeling keuken",
    "sv": "kategori avdelning sort kok",
    "da": "kategori afdeling slags køkken",
    "fi": "luokka kategoria tyyppi",
    "pl": "kategoria kategorie rodzaj dział gatunek typ",
    "cs": "kategorie druh zanr oddeleni",
    "ro": "categorie gen fel",
    "hu": "kategoria tipus mufaj",
    "tr": "kategori tur tip turu",
    "ru": "категория категории тип жанр раздел кухня",
    "uk": "категорія категорії тип жанр кухня",
    "bg": "категория вид жанр",
    "el": "κατηγορια ειδος τυπος",
    "ar": "الفئة فئة التصنيف تصنيف النوع نوع القسم",
    "fa": "دسته دستهبندی نوع ژانر",
    "he": "קטגוריה סוג ז'אנר",
    "hi": "श्रेणी वर्ग प्रकार",
    "th": "หมวดหมู่ ประเภท",
    "vi": "danhmuc loai theloai",
    "id": "kategori jenis",
    "zh": "类别 類別 分类 分類 种类 類型 类型 品类 菜系",
    "ja": "カテゴリ カテゴリー 分類 種類 ジャンル 種別",
    "ko": "카테고리 분류 종류 장르",
}
_LISTS: Mapping[str, str] = {
    "en": "restaurants items recommendations results venues places businesses options suggestions list names answer data"
    " products",
    "de": "empfehlungen vorschlage ergebnisse produkte artikel angebote liste treffer antwort",
    "fr": "recommandations suggestions resultats produits articles liste reponse",
    "es": "recomendaciones sugerencias resultados productos articulos lista respuesta",
    "pt": "recomendacoes sugestoes produtos itens resposta",
    "it": "raccomandazioni consigli suggerimenti risultati prodotti articoli elenco risposta",
    "nl": "aanbevelingen suggesties resultaten producten lijst antwoord",
    "sv": "rekommendationer forslag resultat produkter lista svar",
    "da": "anbefalinger forslag resultater produkter liste svar",
    "pl": "rekomendacje propozycje wyniki produkty lista odpowiedz",
    "tr": "oneriler urunler sonuclar liste cevap",
    "ru": "рекомендации предложения результаты товары список ответ",
    "uk": "рекомендації пропозиції результати товари список відповідь",
    "ar": "التوصيات الاقتراحات النتائج المنتجات القائمة",
    "zh": "推荐 推薦 推荐列表 建议 结果 商品列表 产品 列表 清单",
    "ja": "おすすめ 推薦 候補 結果 商品一覧 リスト 一覧",
    "ko": "추천 추천목록 결과 상품목록 목록",
}
_CURRENCY_KEYS = "currency wahrung devise moneda moeda valuta waluta mena parabirimi валюта العملة 货币 币种 貨幣 通貨 통화"
# Columns that count the rows of a table.
_RANKS = (
    "# no nr n rank ranking number position place pos platz rang nummer rangfolge numero numéro posicion puesto posicao posizione"
    " numer lp miejsce sıra no. № номер место 序号 排名 编号 番号 順位 번호 순위"
)
# A heading or a key that says that a number is an amount of money.
_CURRENCIES = frozenset(
    "eur euro euros usd dollar dollars gbp pound pounds chf franken francs jpy yen cny rmb yuan inr rupees rupee krw won pln"
    " zloty"
    " zlotych złotych czk kc sek nok dkk kr kronor kroner huf forint ron lei bgn uah rub rubles руб грн try tl lira brl reais mxn"
    " pesos cad aud nzd sgd hkd twd thb baht vnd idr rupiah php myr zar ils aed sar egp ¥ € $ £ ₹ ₩ zł ₺ ₽ ₴ 元 円 원"
    " 人民币 日元 日圓".split()
)
_FILLERS = frozenset("in the of de du des del della di da do der van en w v".split())
# If a key has several known words, the first of these roles decides: a "product price" is a price.
_STRONGEST: tuple[Role, ...] = ("level", "price", "category", "name")
_BEHIND_WORDS = 1_000
_PARTS = re.compile(r"[^\W\d_]+|\d+|[€$£¥₹₩₺₽₴#№]")
_CAMEL = re.compile(r"(?<=[a-zß-ÿ])(?=[A-Z])")
_CJK_BRACKET = re.compile(r"[(（\[【][^()（）\[\]【】]{0,30}[)）\]】]")
_MARKUP = re.compile(r"[*_`:]+")
_MAX_KEY = 60


@dataclass(frozen=True, slots=True)
class KeyMeaning:
    """The role of a key (None if it is not known), its rank among the words of that role, and the currency that it names, as
    `preis_eur` does."""

    role: Role | None
    rank: int
    currency: str | None


@remembered
def meaning_of(key: str) -> KeyMeaning:
    """Return the meaning of an object's key or a table's heading."""
    if len(key) > _MAX_KEY:
        return KeyMeaning(None, 0, None)
    parts = _PARTS.findall(_folded(_CAMEL.sub("_", key)))
    currency = next((part for part in reversed(parts) if part in _CURRENCIES), None)
    for words in (parts, [part for part in parts if part not in _CURRENCIES | _FILLERS]):
        known = _WORDS.get("".join(words))
        if known is None and (without := _CJK_BRACKET.sub("", key)) != key:
            known = _WORDS.get("".join(_PARTS.findall(_folded(without))))
        if known is not None:
            return KeyMeaning(*known, currency)
    return KeyMeaning(*_of_several(parts), currency)


def _of_several(parts: Sequence[str]) -> tuple[Role | None, int]:
    """Return the role and rank of a key each of whose words is known ("product price"), or no role."""
    known = [_WORDS.get(part) for part in parts if part not in _CURRENCIES | _FILLERS]
    roles = {one[0]: one[1] for one in known if one is not None}
    if len(known) < 2 or None in known or not set(roles) <= set(_STRONGEST):
        return None, 0
    role = next(role for role in _STRONGEST if role in roles)
    return role, _BEHIND_WORDS + roles[role]


def column_of_names(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return which column of a table holds names: the one with such a heading, else the first without numbers."""
    meanings = [meaning_of(_MARKUP.sub("", cell)) for cell in header]
    named = [(one.rank, at) for at, one in enumerate(meanings) if one.role == "name"]
    if named:
        return min(named)[1]
    for at, one in enumerate(meanings):
        if one.role is None and not all(row[at].strip("#.) ").isdecimal() for row in rows if at < len(row)):
            return at
    return 0


def is_title_label(label: str) -> bool:
    """Return whether a word before a colon says that a title follows: "Title", "Song", "书名"."""
    return meaning_of(label).role == "name"


def _folded(text: str) -> str:
    """Return a text in lower case without accents, composed."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    if not apart.isascii():
        apart = "".join(one for one in apart if not unicodedata.combining(one))
    return unicodedata.normalize("NFKC", apart)


def _words() -> dict[str, tuple[Role, int]]:
    """Return folded word -> role and rank; a word counts for the role that is listed first."""
    found: dict[str, tuple[Role, int]] = {}
    tables: Sequence[tuple[Role, Mapping[str, str]]] = (
        ("name", _NAMES),
        ("level", _LEVELS),
        ("price", _PRICES),
        ("category", _CATEGORIES),
        ("currency", {"": _CURRENCY_KEYS}),
        ("list", _LISTS),
        ("rank", {"": _RANKS}),
    )
    for role, table in tables:
        for rank, word in enumerate(word for words in table.values() for word in words.split()):
            found.setdefault("".join(_PARTS.findall(_folded(word))), (role, rank))
    return found


_WORDS = _words()
